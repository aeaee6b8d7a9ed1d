#include "pastcone/query/kept_table.h"

namespace pastcone::query {
namespace {

class KeptRows : public Rows {
 public:
  explicit KeptRows(std::vector<KeptRow> rows) : rows_(std::move(rows)) {}

  Status start(std::span<const Condition>) override {
    at_ = 0;
    return {};
  }
  Status next() override {
    ++at_;
    return {};
  }
  bool done() const override { return at_ == rows_.size(); }
  void cell(int column, Cell& cell) override {
    const KeptValue& value = rows_[at_][static_cast<size_t>(column)];
    if (const auto* number = std::get_if<int64_t>(&value)) cell.integer(*number);
    if (const auto* text = std::get_if<std::string>(&value)) cell.text(*text);
  }

 private:
  std::vector<KeptRow> rows_;
  size_t at_ = 0;
};

class KeptTable : public Table {
 public:
  KeptTable(const TableInfo& info, std::function<Result<std::vector<KeptRow>>()> make)
      : info_(info), make_(std::move(make)) {}

  const TableInfo& info() const override { return info_; }
  double rows(std::span<const Condition>) const override { return 100; }
  Result<std::unique_ptr<Rows>> open() override { return std::make_unique<KeptRows>(TRY(make_())); }

 private:
  const TableInfo& info_;
  std::function<Result<std::vector<KeptRow>>()> make_;
};

}  // namespace

std::unique_ptr<Table> kept_table(const TableInfo& info, std::function<Result<std::vector<KeptRow>>()> make) {
  return std::make_unique<KeptTable>(info, std::move(make));
}

}  // namespace pastcone::query

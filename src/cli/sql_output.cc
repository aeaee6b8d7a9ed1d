#include "pastcone/cli/sql_output.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "pastcone/cli/text.h"
#include "pastcone/trace/json.h"

namespace pastcone::cli {
namespace {

using query::Value;

std::string text_of(const Value& value) {
  if (const auto* number = std::get_if<int64_t>(&value)) return fmt::format("{}", *number);
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string_view>(&value)) return printable(*text);
  return {};
}

/// False: nobody reads any more.
bool print(const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
}

class TabOutput : public RowOutput {
 public:
  void columns(const std::vector<std::string>& names) override {
    std::vector<Value> values(names.begin(), names.end());
    row(values);
  }

  bool row(const std::vector<Value>& values) override {
    std::string line;
    for (const Value& value : values) line += text_of(value) + '\t';
    line.back() = '\n';
    return print(line);
  }

  void finish() override {}
};

class JsonOutput : public RowOutput {
 public:
  void columns(const std::vector<std::string>& names) override { names_ = names; }

  bool row(const std::vector<Value>& values) override {
    nlohmann::ordered_json json;
    for (size_t i = 0; i < values.size(); ++i) {
      auto& field = json[names_[i]];
      std::visit(
          [&field](const auto& value) {
            if constexpr (!std::is_same_v<std::decay_t<decltype(value)>, std::monostate>) field = value;
          },
          values[i]);
    }
    return print(dump_json(json) + '\n');
  }

  void finish() override {}

 private:
  std::vector<std::string> names_;
};

class TableOutput : public RowOutput {
 public:
  void columns(const std::vector<std::string>& names) override { names_ = names; }

  bool row(const std::vector<Value>& values) override {
    std::vector<std::string> texts;
    for (const Value& value : values) texts.push_back(text_of(value));
    if (rows_.empty()) {
      for (const Value& value : values) text_.push_back(std::holds_alternative<std::string_view>(value));
    }
    rows_.push_back(std::move(texts));
    return true;
  }

  void finish() override {
    std::vector<std::pair<std::string, Table::Align>> header;
    for (size_t i = 0; i < names_.size(); ++i) {
      bool right = !rows_.empty() && !text_[i];
      header.emplace_back(names_[i], right ? Table::Align::kRight : Table::Align::kLeft);
    }
    if (header.empty()) return;
    Table table(std::move(header));
    for (std::vector<std::string>& row : rows_) table.add(std::move(row));
    print(table.text(terminal_width()));
  }

 private:
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> rows_;
  std::vector<bool> text_;  ///< by the first row
};

}  // namespace

std::unique_ptr<RowOutput> make_row_output(RowFormat format) {
  switch (format) {
    case RowFormat::kTable:
      return std::make_unique<TableOutput>();
    case RowFormat::kTabs:
      return std::make_unique<TabOutput>();
    case RowFormat::kJson:
      return std::make_unique<JsonOutput>();
  }
  return nullptr;
}

}  // namespace pastcone::cli

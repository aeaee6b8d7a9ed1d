#include "pastcone/query/grouped_rows.h"

#include <algorithm>

namespace pastcone::query {
namespace {

/// Appended to others, it compares as SQLite compares: NULL, integers, texts.
void append(std::string& key, const Cell& cell) {
  key += static_cast<char>('0' + static_cast<int>(cell.type()));
  if (cell.type() == Cell::Type::kInteger) {
    auto shifted = __builtin_bswap64(static_cast<uint64_t>(cell.value()) ^ uint64_t{1} << 63);
    key.append(reinterpret_cast<const char*>(&shifted), sizeof shifted);
  }
  if (cell.type() == Cell::Type::kText) {
    key += cell.view();
    key += '\0';
  }
}

}  // namespace

GroupedRows::GroupedRows(Rows& rows, std::vector<int> keys, std::vector<int> used)
    : rows_(rows), keys_(std::move(keys)), used_(std::move(used)), at_(groups_.end()) {
  for (size_t i = 0; i < used_.size(); ++i) {
    auto column = static_cast<size_t>(used_[i]);
    if (place_.size() <= column) place_.resize(column + 1, -1);
    place_[column] = static_cast<int>(i);
    is_key_.push_back(std::ranges::find(keys_, used_[i]) != keys_.end());
  }
}

GroupedRows::Group& GroupedRows::group_of_row() {
  key_.clear();
  for (int column : keys_) {
    Cell cell;
    rows_.cell(column, cell);
    append(key_, cell);
  }
  if (auto found = known_.find(key_); found != known_.end()) return *found->second;
  Group& group = groups_[key_];
  group.columns.resize(used_.size());
  known_[key_] = &group;
  return group;
}

int64_t GroupedRows::number_of(std::string_view text) {
  auto found = numbers_.find(text);
  if (found == numbers_.end()) {
    found = numbers_.emplace(text, static_cast<int64_t>(texts_.size())).first;
    texts_.push_back(&found->first);
  }
  return found->second;
}

Status GroupedRows::start(std::span<const Condition> conditions) {
  groups_.clear();
  known_.clear();
  at_ = groups_.end();
  row_ = 0;
  TRY_STATUS(rows_.start(conditions));
  while (!rows_.done()) {
    Group& group = group_of_row();
    ++group.rows;
    for (size_t i = 0; i < used_.size(); ++i) {
      if (is_key_[i] && group.rows > 1) continue;  // the same in all its rows
      Cell cell;
      rows_.cell(used_[i], cell);
      group.columns[i].types.push_back(cell.type());
      group.columns[i].values.push_back(cell.type() == Cell::Type::kText ? number_of(cell.view())
                                                                         : cell.value());
    }
    TRY_STATUS(rows_.next());
  }
  at_ = groups_.begin();
  return {};
}

Status GroupedRows::next() {
  if (++row_ == at_->second.rows) {
    ++at_;
    row_ = 0;
  }
  return {};
}

void GroupedRows::cell(int column, Cell& cell) {
  const Column& values = at_->second.columns[static_cast<size_t>(place_[static_cast<size_t>(column)])];
  size_t row = values.types.size() == 1 ? 0 : row_;
  if (values.types[row] == Cell::Type::kInteger) cell.integer(values.values[row]);
  if (values.types[row] == Cell::Type::kText) cell.constant(*texts_[static_cast<size_t>(values.values[row])]);
}

}  // namespace pastcone::query

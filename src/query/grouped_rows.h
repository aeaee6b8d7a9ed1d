// Rows put together by some of their columns, for GROUP BY and DISTINCT: SQLite would sort all of them, which
// takes far longer than reading them. For columns that have few different values. Only the columns that the
// query uses are kept, nine bytes each.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "pastcone/query/table.h"

namespace pastcone::query {

class GroupedRows : public Rows {
 public:
  /// `keys`: the columns to group by; `used`: all that will be asked for, these too.
  GroupedRows(Rows& rows, std::vector<int> keys, std::vector<int> used);

  Status start(std::span<const Condition> conditions) override;
  Status next() override;
  bool done() const override { return at_ == groups_.end(); }
  void cell(int column, Cell& cell) override;

 private:
  struct Column {
    std::vector<Cell::Type> types;
    std::vector<int64_t> values;  ///< a text by its number
  };
  struct Group {
    uint64_t rows = 0;
    std::vector<Column> columns;
  };

  Group& group_of_row();
  int64_t number_of(std::string_view text);

  Rows& rows_;
  std::vector<int> keys_, used_;
  std::vector<bool> is_key_;             ///< those used
  std::vector<int> place_;               ///< of a column in used_
  std::map<std::string, Group> groups_;  ///< in the order of their keys, so that they are sorted too
  std::unordered_map<std::string, Group*> known_;
  std::map<std::string, Group>::iterator at_;
  uint64_t row_ = 0;
  std::map<std::string, int64_t, std::less<>> numbers_;
  std::vector<const std::string*> texts_;
  std::string key_;
};

}  // namespace pastcone::query

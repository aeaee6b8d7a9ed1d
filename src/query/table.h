// What a virtual table is, without SQLite: columns, and rows that are asked for one after the other. A
// condition that a query has on a column marked `seek` is told to the rows before they start, so that they
// may leave out what does not meet it; they need not, since it is tested again.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pastcone/base/result.h"

namespace pastcone::query {

struct ColumnInfo {
  const char* name;
  const char* type;  ///< "TEXT" or "INTEGER"
  bool seek = false;
  bool few = false;     ///< it has few different values
  bool hidden = false;  ///< it costs too much to be part of *; only who names it gets it

  bool is_text() const { return type[0] == 'T'; }
};

struct TableInfo {
  const char* name;
  std::span<const ColumnInfo> columns;
};

enum class Comparison : char {
  kEqual = '=',
  kLess = '<',
  kLessEqual = '[',
  kGreater = '>',
  kGreaterEqual = ']'
};

struct Condition {
  int column = 0;
  Comparison comparison = Comparison::kEqual;  ///< texts are only tested for equality
  int64_t number = 0;                          ///< of an INTEGER column
  std::string text;                            ///< of a TEXT column
};

/// Where a row puts the value of one of its columns. Nothing put: NULL.
class Cell {
 public:
  enum class Type : uint8_t { kNull, kInteger, kText };

  void integer(int64_t value) {
    type_ = Type::kInteger;
    value_ = value;
  }
  /// Beyond the largest integer of SQLite, NULL.
  void natural(uint64_t value) {
    if (value <= INT64_MAX) integer(static_cast<int64_t>(value));
  }
  void text(std::string value) {
    own_ = std::move(value);
    constant(own_);
    constant_ = false;
  }
  /// A text that is there as long as the rows are.
  void constant(std::string_view value) {
    type_ = Type::kText;
    view_ = value;
    constant_ = true;
  }

  Type type() const { return type_; }
  int64_t value() const { return value_; }
  std::string_view view() const { return view_; }
  bool is_constant() const { return constant_; }

 private:
  Type type_ = Type::kNull;
  bool constant_ = false;
  int64_t value_ = 0;
  std::string_view view_;
  std::string own_;
};

class Rows {
 public:
  virtual ~Rows() = default;

  /// Goes to the first row. May come again.
  virtual Status start(std::span<const Condition> conditions) = 0;
  virtual Status next() = 0;
  virtual bool done() const = 0;
  virtual void cell(int column, Cell& cell) = 0;
};

class Table {
 public:
  virtual ~Table() = default;

  virtual const TableInfo& info() const = 0;
  /// About how many rows there are, or are left with these conditions (their values are not known yet).
  virtual double rows(std::span<const Condition> conditions) const = 0;
  virtual Result<std::unique_ptr<Rows>> open() = 0;
};

}  // namespace pastcone::query

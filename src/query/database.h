// A recording as a database that can only be read.
//
//   Database database = TRY(Database::open(source));
//   TRY_STATUS(database.run("SELECT kind, count(*) FROM events GROUP BY kind", visitor));
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pastcone/base/result.h"
#include "pastcone/query/source.h"

struct sqlite3;

namespace pastcone::query {

/// NULL, or a number, or a text; bytes are given as a text.
using Value = std::variant<std::monostate, int64_t, double, std::string_view>;

class RowVisitor {
 public:
  virtual ~RowVisitor() = default;

  /// Once, before the rows.
  virtual void columns(const std::vector<std::string>& names) = 0;
  /// Texts are valid during the call. False: that is enough.
  virtual bool row(const std::vector<Value>& values) = 0;
};

/// "events(event, process, …)", one line a table.
std::string describe_tables();

class Database {
 public:
  /// The source must outlive it.
  static Result<Database> open(Source& source);

  /// One statement. Rows found before an error have been given out.
  Status run(std::string_view query, RowVisitor& visitor);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };

  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace pastcone::query

#include "pastcone/query/database.h"

#include <sqlite3.h>

#include <algorithm>

#include "pastcone/query/functions.h"
#include "pastcone/query/module.h"
#include "pastcone/query/tables.h"

namespace pastcone::query {
namespace {

struct Finalize {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Statement = std::unique_ptr<sqlite3_stmt, Finalize>;

/// There is no file behind the database, but a statement could open one.
int only_reading(void*, int action, const char*, const char*, const char*, const char*) {
  switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
    case SQLITE_FUNCTION:
    case SQLITE_RECURSIVE:
      return SQLITE_OK;
    default:
      return SQLITE_DENY;
  }
}

std::string table_names() {
  std::string names;
  for (const TableInfo* table : kTables) {
    if (!names.empty()) names += ", ";
    names += table->name;
  }
  return names;
}

/// What SQLite says, and what to try.
tl::unexpected<Error> explain(sqlite3* database) {
  std::string message = sqlite3_errmsg(database);
  std::ranges::replace(message, '\n', ' ');
  auto says = [&](std::string_view part) { return message.find(part) != std::string::npos; };
  if (sqlite3_errcode(database) == SQLITE_AUTH || says("may not be modified") || says("not authorized")) {
    return fail("a recording is only read: `sql` takes SELECT, or WITH … SELECT");
  }
  if (says("no such table")) return fail("{}; there are {}", message, table_names());
  if (says("no such column")) return fail("{}; `pastcone sql --help` lists the columns", message);
  if (says("no such function") || says("number of arguments")) {
    return fail("{}; there are SQLite's own, hb(a, b) and concurrent(a, b)", message);
  }
  if (says("syntax error") || says("incomplete input") || says("unrecognized token")) {
    return fail("this is not SQL: {}; try SELECT kind, count(*) FROM events GROUP BY kind", message);
  }
  return fail("{}", message);
}

Value value_of(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
      return {};
    case SQLITE_INTEGER:
      return static_cast<int64_t>(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    default: {
      const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement, column));
      return std::string_view(bytes, static_cast<size_t>(sqlite3_column_bytes(statement, column)));
    }
  }
}

Result<Statement> prepare(sqlite3* database, std::string_view query) {
  constexpr std::string_view kBlank = " \t\r\n;";
  sqlite3_stmt* raw = nullptr;
  const char* tail = nullptr;
  int status = sqlite3_prepare_v2(database, query.data(), static_cast<int>(query.size()), &raw, &tail);
  Statement statement(raw);
  if (status != SQLITE_OK) return explain(database);
  if (statement == nullptr) return fail("there is no query; try `pastcone sql \"SELECT * FROM processes\"`");
  std::string_view rest = query.substr(static_cast<size_t>(tail - query.data()));
  if (rest.find_first_not_of(kBlank) != std::string_view::npos)
    return fail("one statement at a time, please: leave out what follows the ;");
  return statement;
}

}  // namespace

std::string describe_tables() {
  std::string text;
  for (const TableInfo* table : kTables) {
    std::string columns;
    for (const ColumnInfo& column : table->columns) {
      if (!columns.empty()) columns += ", ";
      columns += column.name;
    }
    text += fmt::format("  {}({})\n", table->name, columns);
  }
  return text;
}

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Result<Database> Database::open(Source& source) {
  sqlite3* raw = nullptr;
  int status = sqlite3_open_v2(":memory:", &raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY, nullptr);
  Database database;
  database.database_.reset(raw);
  if (status != SQLITE_OK) return fail("SQLite does not start: {}", sqlite3_errstr(status));
  for (std::unique_ptr<Table>& table : all_tables(source)) TRY_STATUS(add_table(raw, std::move(table)));
  TRY_STATUS(add_functions(raw, source));
  sqlite3_set_authorizer(raw, only_reading, nullptr);
  return database;
}

Status Database::run(std::string_view query, RowVisitor& visitor) {
  Statement statement = TRY(prepare(database_.get(), query));
  int count = sqlite3_column_count(statement.get());
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.emplace_back(sqlite3_column_name(statement.get(), i));
  visitor.columns(names);
  std::vector<Value> values(names.size());
  while (true) {
    int status = sqlite3_step(statement.get());
    if (status == SQLITE_DONE) return {};
    if (status != SQLITE_ROW) return explain(database_.get());
    for (int i = 0; i < count; ++i) values[static_cast<size_t>(i)] = value_of(statement.get(), i);
    if (!visitor.row(values)) return {};
  }
}

}  // namespace pastcone::query

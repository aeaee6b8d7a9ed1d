#include "pastcone/query/module.h"

#include <sqlite3.h>

#include <cstring>
#include <optional>

#include "pastcone/query/grouped_rows.h"

namespace pastcone::query {
namespace {

struct Connection : sqlite3_vtab {
  Table* table;
};

struct Cursor : sqlite3_vtab_cursor {
  std::unique_ptr<Rows> rows;
  std::unique_ptr<GroupedRows> grouped;  ///< these rows, if they are wanted so
  int64_t number;
};

Rows& rows(sqlite3_vtab_cursor* base) {
  auto* cursor = static_cast<Cursor*>(base);
  return cursor->grouped != nullptr ? *cursor->grouped : *cursor->rows;
}
Table& table(sqlite3_vtab* connection) { return *static_cast<Connection*>(connection)->table; }

int answer(const Status& status, sqlite3_vtab* connection) {
  if (status) return SQLITE_OK;
  sqlite3_free(connection->zErrMsg);
  connection->zErrMsg = sqlite3_mprintf("%s", status.error().message.c_str());
  return SQLITE_ERROR;
}

int connect(sqlite3* database, void* aux, int, const char* const*, sqlite3_vtab** out, char**) {
  auto* table = static_cast<Table*>(aux);
  std::string schema = "CREATE TABLE x(";
  for (const ColumnInfo& column : table->info().columns) {
    if (schema.back() != '(') schema += ", ";
    schema += fmt::format("\"{}\" {}{}", column.name, column.type, column.hidden ? " HIDDEN" : "");
  }
  if (int status = sqlite3_declare_vtab(database, (schema + ")").c_str()); status != SQLITE_OK) return status;
  auto* connection = new Connection{};
  connection->table = table;
  *out = connection;
  return SQLITE_OK;
}

int disconnect(sqlite3_vtab* connection) {
  delete static_cast<Connection*>(connection);
  return SQLITE_OK;
}

std::optional<Comparison> comparison(unsigned char op) {
  switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
      return Comparison::kEqual;
    case SQLITE_INDEX_CONSTRAINT_LT:
      return Comparison::kLess;
    case SQLITE_INDEX_CONSTRAINT_LE:
      return Comparison::kLessEqual;
    case SQLITE_INDEX_CONSTRAINT_GT:
      return Comparison::kGreater;
    case SQLITE_INDEX_CONSTRAINT_GE:
      return Comparison::kGreaterEqual;
    default:
      return std::nullopt;
  }
}

/// The condition, if rows are to be told.
std::optional<Condition> useful(sqlite3_index_info* info, int place, std::span<const ColumnInfo> columns) {
  const auto& constraint = info->aConstraint[place];
  auto how = comparison(constraint.op);
  if (!constraint.usable || !how || constraint.iColumn < 0) return std::nullopt;
  const ColumnInfo& column = columns[static_cast<size_t>(constraint.iColumn)];
  if (!column.seek) return std::nullopt;
  if (column.is_text() &&
      (*how != Comparison::kEqual || std::strcmp(sqlite3_vtab_collation(info, place), "BINARY") != 0)) {
    return std::nullopt;
  }
  return Condition{.column = constraint.iColumn, .comparison = *how, .text = {}};
}

/// Whether rows are to be grouped before SQLite has them: by which columns ('A' the first), a bar, and all
/// that are used. Empty: no.
std::string grouping(sqlite3_index_info* info, std::span<const ColumnInfo> columns) {
  int mode = sqlite3_vtab_distinct(info);
  if (info->nOrderBy == 0 || (mode != 1 && mode != 2)) return {};
  std::string keys, used;
  for (int i = 0; i < info->nOrderBy; ++i) {
    const auto& key = info->aOrderBy[i];
    if (key.iColumn < 0 || key.desc != 0 || !columns[static_cast<size_t>(key.iColumn)].few) return {};
    keys += static_cast<char>('A' + key.iColumn);
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    if ((info->colUsed >> i & 1) == 0) continue;
    if (columns[i].is_text() && !columns[i].few) return {};
    used += static_cast<char>('A' + i);
  }
  return keys + '|' + used;
}

std::vector<int> columns_of(std::string_view letters) {
  std::vector<int> columns;
  for (char letter : letters) columns.push_back(letter - 'A');
  return columns;
}

/// idxStr becomes a pair of characters for each: its column ('A' the first), and how it is compared; then the
/// grouping.
int plan(sqlite3_vtab* connection, sqlite3_index_info* info) {
  std::vector<Condition> conditions;
  std::string plan;
  for (int place = 0; place < info->nConstraint; ++place) {
    auto condition = useful(info, place, table(connection).info().columns);
    if (!condition) continue;
    plan += static_cast<char>('A' + condition->column);
    plan += static_cast<char>(condition->comparison);
    conditions.push_back(*condition);
    info->aConstraintUsage[place].argvIndex = static_cast<int>(conditions.size());
  }
  double rows = table(connection).rows(conditions);
  std::string groups = grouping(info, table(connection).info().columns);
  if (!groups.empty()) info->orderByConsumed = 1;
  plan += groups;
  info->estimatedCost = rows + 1;
  info->estimatedRows = static_cast<sqlite3_int64>(rows) + 1;
  info->idxStr = sqlite3_mprintf("%s", plan.c_str());
  info->needToFreeIdxStr = 1;
  return info->idxStr == nullptr ? SQLITE_NOMEM : SQLITE_OK;
}

int open(sqlite3_vtab* connection, sqlite3_vtab_cursor** out) {
  auto rows = table(connection).open();
  if (!rows) return answer(tl::unexpected<Error>(rows.error()), connection);
  auto* cursor = new Cursor{};
  cursor->rows = std::move(*rows);
  *out = cursor;
  return SQLITE_OK;
}

int close(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}

std::string text_of(sqlite3_value* value) {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return {bytes, static_cast<size_t>(sqlite3_value_bytes(value))};
}

int filter(sqlite3_vtab_cursor* cursor, int, const char* plan, int count, sqlite3_value** values) {
  std::vector<Condition> conditions;
  for (int i = 0; i < count; ++i, plan += 2) {
    Condition condition{.column = plan[0] - 'A', .comparison = static_cast<Comparison>(plan[1]), .text = {}};
    bool text = table(cursor->pVtab).info().columns[static_cast<size_t>(condition.column)].is_text();
    // A value of another type is SQLite's to compare.
    if (sqlite3_value_type(values[i]) != (text ? SQLITE_TEXT : SQLITE_INTEGER)) continue;
    if (text)
      condition.text = text_of(values[i]);
    else
      condition.number = sqlite3_value_int64(values[i]);
    conditions.push_back(std::move(condition));
  }
  auto* mine = static_cast<Cursor*>(cursor);
  mine->number = 0;
  std::string_view groups = plan;
  if (size_t bar = groups.find('|'); bar != std::string_view::npos) {
    mine->grouped = std::make_unique<GroupedRows>(*mine->rows, columns_of(groups.substr(0, bar)),
                                                  columns_of(groups.substr(bar + 1)));
  } else {
    mine->grouped.reset();
  }
  return answer(rows(cursor).start(conditions), cursor->pVtab);
}

int next(sqlite3_vtab_cursor* cursor) {
  ++static_cast<Cursor*>(cursor)->number;
  return answer(rows(cursor).next(), cursor->pVtab);
}

int at_end(sqlite3_vtab_cursor* cursor) { return rows(cursor).done() ? 1 : 0; }

int column(sqlite3_vtab_cursor* cursor, sqlite3_context* context, int number) {
  Cell cell;
  rows(cursor).cell(number, cell);
  if (cell.type() == Cell::Type::kInteger) sqlite3_result_int64(context, cell.value());
  if (cell.type() == Cell::Type::kText) {
    sqlite3_result_text64(context, cell.view().data(), cell.view().size(),
                          cell.is_constant() ? SQLITE_STATIC : SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  return SQLITE_OK;
}

int row_id(sqlite3_vtab_cursor* cursor, sqlite3_int64* id) {
  *id = static_cast<Cursor*>(cursor)->number;
  return SQLITE_OK;
}

/// Without a way to create one: it is there, once, by its module's name. Without a way to write to it.
sqlite3_module make_module() {
  sqlite3_module module{};
  module.xConnect = connect;
  module.xBestIndex = plan;
  module.xDisconnect = disconnect;
  module.xOpen = open;
  module.xClose = close;
  module.xFilter = filter;
  module.xNext = next;
  module.xEof = at_end;
  module.xColumn = column;
  module.xRowid = row_id;
  return module;
}

}  // namespace

Status add_table(sqlite3* database, std::unique_ptr<Table> table) {
  static const sqlite3_module kModule = make_module();
  const char* name = table->info().name;
  auto destroy = [](void* aux) { delete static_cast<Table*>(aux); };
  sqlite3_stmt* using_it = nullptr;
  bool made = sqlite3_create_module_v2(database, name, &kModule, table.release(), destroy) == SQLITE_OK &&
              sqlite3_prepare_v2(database, fmt::format("SELECT 1 FROM {}", name).c_str(), -1, &using_it,
                                 nullptr) == SQLITE_OK;
  sqlite3_finalize(using_it);
  if (made) return {};
  return fail("cannot make the table {}: {}", name, sqlite3_errmsg(database));
}

}  // namespace pastcone::query

// Makes a Table one of SQLite's virtual tables.
#pragma once

#include <memory>

#include "pastcone/base/result.h"
#include "pastcone/query/table.h"

struct sqlite3;

namespace pastcone::query {

/// There at once under its name, in no schema; connected, so that nothing needs to be declared later.
Status add_table(sqlite3* database, std::unique_ptr<Table> table);

}  // namespace pastcone::query

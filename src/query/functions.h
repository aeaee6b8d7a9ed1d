// hb(a, b) and concurrent(a, b) of events by their names.
#pragma once

#include "pastcone/base/result.h"
#include "pastcone/query/source.h"

struct sqlite3;

namespace pastcone::query {

Status add_functions(sqlite3* database, Source& source);

}  // namespace pastcone::query

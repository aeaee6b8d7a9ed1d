// A table that is small enough to be made at once.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "pastcone/query/table.h"

namespace pastcone::query {

using KeptValue = std::variant<std::monostate, int64_t, std::string>;
using KeptRow = std::vector<KeptValue>;

/// `make` is called when a query uses the table.
std::unique_ptr<Table> kept_table(const TableInfo& info, std::function<Result<std::vector<KeptRow>>()> make);

inline KeptValue kept(uint64_t number) { return static_cast<int64_t>(number); }

}  // namespace pastcone::query

// All tables there are. Each is in its own file, or with one that is like it.
#pragma once

#include <memory>
#include <vector>

#include "pastcone/query/source.h"
#include "pastcone/query/table.h"

namespace pastcone::query {

extern const TableInfo kProcessesTable, kThreadsTable, kEventsTable, kMessagesTable, kEdgesTable,
    kObjectsTable, kRacesTable;
inline constexpr const TableInfo* kTables[] = {&kProcessesTable, &kThreadsTable, &kEventsTable,
                                               &kMessagesTable,  &kEdgesTable,   &kObjectsTable,
                                               &kRacesTable};

std::unique_ptr<Table> processes_table(Source& source);
std::unique_ptr<Table> threads_table(Source& source);
std::unique_ptr<Table> events_table(Source& source);
std::unique_ptr<Table> messages_table(Source& source);
std::unique_ptr<Table> edges_table(Source& source);
std::unique_ptr<Table> objects_table(Source& source);
std::unique_ptr<Table> races_table(Source& source);

inline std::vector<std::unique_ptr<Table>> all_tables(Source& source) {
  std::vector<std::unique_ptr<Table>> tables;
  for (auto make : {processes_table, threads_table, events_table, messages_table, edges_table, objects_table,
                    races_table}) {
    tables.push_back(make(source));
  }
  return tables;
}

}  // namespace pastcone::query

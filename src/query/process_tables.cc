#include <nlohmann/json.hpp>

#include "pastcone/query/kept_table.h"
#include "pastcone/query/tables.h"
#include "pastcone/trace/json.h"

namespace pastcone::query {
namespace {

KeptValue event_or_null(EventId event) { return event.valid() ? KeptValue(to_string(event)) : KeptValue(); }

KeptValue status_of(const End& end) {
  return end.kind == End::Kind::kExited ? KeptValue(end.value) : KeptValue();
}
KeptValue signal_of(const End& end) {
  return end.kind == End::Kind::kSignalled ? KeptValue(end.value) : KeptValue();
}

constexpr ColumnInfo kProcesses[] = {{"process", "TEXT"},   {"pid", "INTEGER"},        {"host", "TEXT"},
                                     {"parent", "TEXT"},    {"started_ns", "INTEGER"}, {"threads", "INTEGER"},
                                     {"events", "INTEGER"}, {"end", "TEXT"},           {"status", "INTEGER"},
                                     {"signal", "INTEGER"}, {"program", "TEXT"},       {"arguments", "TEXT"},
                                     {"cwd", "TEXT"}};

Result<std::vector<KeptRow>> processes(Source& source) {
  std::vector<KeptRow> rows;
  for (const auto& [id, process] : source.processes().processes()) {
    KeptRow row{to_string(id),
                int64_t{process.pid},
                source.recording().manifest().host,
                event_or_null(process.parent),
                process.started_ns,
                kept(process.threads.size()),
                kept(process.events),
                to_string(process.end),
                status_of(process.end),
                signal_of(process.end)};
    if (const ProgramRun* program = source.processes().program(id)) {
      row.insert(row.end(), {program->path, dump_json(program->arguments), program->cwd});
    }
    row.resize(std::size(kProcesses));
    rows.push_back(std::move(row));
  }
  return rows;
}

constexpr ColumnInfo kThreads[] = {{"thread", "TEXT"},    {"process", "TEXT"}, {"number", "INTEGER"},
                                   {"tid", "INTEGER"},    {"parent", "TEXT"},  {"started_ns", "INTEGER"},
                                   {"events", "INTEGER"}, {"end", "TEXT"}};

Result<std::vector<KeptRow>> threads(Source& source) {
  std::vector<KeptRow> rows;
  for (const auto& [id, process] : source.processes().processes()) {
    for (const ThreadRecord& thread : process.threads) {
      rows.push_back({to_string(thread.id), to_string(id), int64_t{thread.id.number()}, int64_t{thread.tid},
                      event_or_null(thread.parent), thread.started_ns, kept(thread.events),
                      to_string(thread.end)});
    }
  }
  return rows;
}

}  // namespace

const TableInfo kProcessesTable{"processes", kProcesses};
const TableInfo kThreadsTable{"threads", kThreads};

std::unique_ptr<Table> processes_table(Source& source) {
  return kept_table(kProcessesTable, [&source] { return processes(source); });
}

std::unique_ptr<Table> threads_table(Source& source) {
  return kept_table(kThreadsTable, [&source] { return threads(source); });
}

}  // namespace pastcone::query

#include "pastcone/debug/world.h"

#include <algorithm>

#include "pastcone/base/files.h"

namespace pastcone::debug {

bool runs(const ProcessTable& table, ProcessId process, const std::string& name, bool briefly) {
  const ProcessRecord* record = table.find(process);
  if (record == nullptr) return false;
  auto is_it = [&](const ProgramRun& run) {
    // `ps` shows it as it was called, which need not be its file's name.
    bool called = !run.arguments.empty() && Path(run.arguments.front()).filename() == name;
    return called || Path(run.path).filename() == name || Path(run.name).filename() == name;
  };
  if (std::ranges::any_of(record->programs, is_it)) return true;
  if (record->programs.empty()) {
    const ProgramRun* had = table.program(process);
    return had != nullptr && is_it(*had);
  }
  bool older = record->parent.valid() && record->parent.process() < process;
  return briefly && older && runs(table, record->parent.process(), name, briefly);
}

}  // namespace pastcone::debug

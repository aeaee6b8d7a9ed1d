#include "pastcone/debug/map_changes.h"

#include <sys/syscall.h>

#include <algorithm>

#include "pastcone/graph/steps.h"
#include "pastcone/record/shared_stage.h"
#include "pastcone/trace/stream_reader.h"

namespace pastcone::debug {
namespace {

bool changes_map(const Item& item) {
  if (!item.is_call()) return false;
  switch (item.call) {
    case SYS_mmap:
    case SYS_munmap:
    case SYS_mprotect:
    case SYS_mremap:
    case SYS_brk:
    case SYS_shmat:
    case SYS_shmdt:
    case SYS_execve:
    case SYS_execveat:
      return true;
    default:
      return false;
  }
}

}  // namespace

MapChanges MapChanges::read(const World& world, ProcessId process) {
  MapChanges changes;
  changes.known_ = changes.read_events(world, process).has_value();
  return changes;
}

Status MapChanges::read_events(const World& world, ProcessId process) {
  for (const auto& [thread, stream] : world.recording.threads()) {
    if (thread.process() != process) continue;
    std::vector<uint64_t>& events = events_[thread];
    StreamReader reader(world.recording, thread);
    while (auto item = TRY(reader.next()))
      if (changes_map(*item)) events.push_back(item->event);
  }
  return {};
}

std::optional<uint64_t> MapChanges::count(const Incarnation& run) const {
  if (!known_) return {};
  uint64_t count = 0;
  for (const auto& [thread, events] : events_) {
    uint64_t done = run.events_done(thread);
    auto next = std::ranges::upper_bound(events, done);
    bool entered = record::load(run.slot(thread).step) == graph::entering(done + 1);
    if (next != events.end() && *next == done + 1 && (entered || run.in_call(thread))) return {};
    count += static_cast<uint64_t>(next - events.begin());
  }
  return count;
}

}  // namespace pastcone::debug

#include "pastcone/debug/map_changes.h"

#include <sys/syscall.h>

#include <algorithm>

#include "pastcone/trace/event_reader.h"

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

Result<MapChanges> MapChanges::read(const World& world, ProcessId process) {
  MapChanges changes;
  for (const auto& [thread, stream] : world.recording.threads()) {
    if (thread.process() != process) continue;
    std::vector<uint64_t>& events = changes.events_[thread];
    StreamReader reader(world.recording, thread);
    while (auto item = TRY(reader.next()))
      if (changes_map(*item)) events.push_back(item->event);
  }
  return changes;
}

std::optional<uint64_t> MapChanges::count(const Incarnation& run) const {
  uint64_t count = 0;
  for (const auto& [thread, events] : events_) {
    uint64_t done = run.events_done(thread);
    auto next = std::ranges::upper_bound(events, done);
    if (next != events.end() && *next == done + 1 && run.in_call(thread)) return {};
    count += static_cast<uint64_t>(next - events.begin());
  }
  return count;
}

}  // namespace pastcone::debug

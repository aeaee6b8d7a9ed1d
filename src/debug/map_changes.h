// When a process changes what it has mapped, by the recording: who has looked at that need not look again
// before. Serial mode.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "pastcone/debug/incarnation.h"
#include "pastcone/debug/world.h"

namespace pastcone::debug {

class MapChanges {
 public:
  static MapChanges read(const World& world, ProcessId process);
  /// How many there have been; none: one is being made, or nobody knows.
  std::optional<uint64_t> count(const Incarnation& run) const;

 private:
  Status read_events(const World& world, ProcessId process);

  std::map<ThreadId, std::vector<uint64_t>> events_;
  bool known_ = false;
};

}  // namespace pastcone::debug

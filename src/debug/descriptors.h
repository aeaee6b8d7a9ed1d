// What the descriptors of a replayed process are, and who holds which ends: the runtime's own table, read from
// outside (src/runtime/fds.h).
#pragma once

#include <optional>
#include <vector>

#include "pastcone/debug/incarnation.h"

namespace pastcone::debug {

struct Descriptor {
  int number = 0;
  bool output = false;              ///< the program's standard output or error
  std::optional<uint64_t> sends;    ///< channels, if it is an end of a connection in the recording
  std::optional<uint64_t> receives;
};

/// Of a process that stands, or is stopped for that; nothing if it is not there.
std::vector<Descriptor> descriptors(Incarnation& run, ProcessId process);

/// Processes that can send on the channel, or receive from it.
std::vector<ProcessId> holders(Incarnation& run, const World& world, uint64_t channel, bool senders);

}  // namespace pastcone::debug

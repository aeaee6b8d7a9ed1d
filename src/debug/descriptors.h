// What the descriptors of a replayed process are, and who holds which ends: the runtime's own table, read from
// outside (stage::Descriptor).
#pragma once

#include <optional>
#include <vector>

#include "pastcone/debug/incarnation.h"

namespace pastcone::debug {

struct Descriptor {
  int number = 0;
  std::optional<uint64_t> sends, receives;  ///< channels, if it is an end of a connection in the recording
};

/// Of a process that stands, or is stopped for that; nothing if it is not there.
std::vector<Descriptor> descriptors(Incarnation& run, ProcessId process);

/// The channel that comes in at a descriptor of the process.
Result<uint64_t> incoming_channel(Incarnation& run, ProcessId process, uint64_t fd);

/// Processes that can send on the channel, or receive from it.
std::vector<ProcessId> holders(Incarnation& run, const World& world, uint64_t channel, bool senders);

}  // namespace pastcone::debug

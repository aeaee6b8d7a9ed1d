// Where the threads of a replay are when nobody goes on.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "pastcone/base/ids.h"
#include "pastcone/replay/run_summary.h"
#include "pastcone/trace/format.h"

namespace pastcone::replay {

struct Standing {
  EventId last;          ///< the last event it has done; 0: none
  bool entered = false;  ///< it is in the next one, as far as that goes without the others
  bool ended = false;
  std::optional<format::StopReason> left = {};  ///< it has left the recording, and went on outside: why
  pid_t thread = 0;                             ///< as the kernel has it now
  uint64_t steps = 0;                           ///< that it has done, as horizons count them
  uint64_t points = 0;
  uint64_t point = 0;  ///< of its locks, if that is where it was to stop
};

/// What only the recording knows of those that have ended: how much they had done by then, though the end of their process
/// may have come before; and why they left the recording. Who had done nothing is not in it, and is left out.
void end_as_recorded(std::vector<Standing>& all, const std::map<ThreadId, ThreadSummary>& recorded);

}  // namespace pastcone::replay

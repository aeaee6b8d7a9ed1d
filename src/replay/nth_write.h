// A thread that is to stop at its n-th write to some memory: the kernel counts (perf_event_open), which is
// several times as quick as stopping it each time.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "pastcone/base/files.h"

namespace pastcone::replay {

/// While it is open. The tracer tells of it as of a watchpoint at the address (TraceStop::kWatch). None if
/// the kernel does not do that here, or not for this size.
UniqueFd stop_at_write(pid_t thread, uint64_t address, uint32_t size, uint64_t count);

}  // namespace pastcone::replay

// What the kernel does about writes of a thread to some memory, by perf_event_open: it counts them, and stops the thread at the
// n-th, which is several times as quick as stopping it each time; or tells the process of each, which takes a third of the time
// of a stop.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "pastcone/base/files.h"

namespace pastcone::replay {

/// While it is open. The tracer tells of it as of a watchpoint at the address (TraceStop::kWatch). None if
/// the kernel does not do that here, or not for this size.
UniqueFd stop_at_write(pid_t thread, uint64_t address, uint32_t size, uint64_t count);
/// While it is open, and until the process executes a program: each is a SIGTRAP with this number, also in threads that it makes
/// from now on. The process must not be traced.
UniqueFd tell_of_writes(pid_t thread, uint64_t address, uint32_t size, uint64_t number);

}  // namespace pastcone::replay

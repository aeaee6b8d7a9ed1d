#include "pastcone/replay/nth_write.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pastcone::replay {

UniqueFd stop_at_write(pid_t thread, uint64_t address, uint32_t size, uint64_t count) {
  bool possible = (size == 1 || size == 2 || size == 4 || size == 8) && address % size == 0;
  if (!possible) return {};
  perf_event_attr how{};
  how.type = PERF_TYPE_BREAKPOINT;
  how.size = sizeof how;
  how.bp_type = HW_BREAKPOINT_W;
  how.bp_addr = address;
  how.bp_len = size;
  how.sample_period = count;
  how.exclude_kernel = how.exclude_hv = 1;
  how.sigtrap = how.remove_on_exec = 1;
  return UniqueFd(static_cast<int>(syscall(SYS_perf_event_open, &how, thread, -1, -1, PERF_FLAG_FD_CLOEXEC)));
}

}  // namespace pastcone::replay

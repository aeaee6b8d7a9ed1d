#include "pastcone/replay/nth_write.h"

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pastcone::replay {

namespace {

perf_event_attr writes_to(uint64_t address, uint32_t size) {
  perf_event_attr how{};
  how.type = PERF_TYPE_BREAKPOINT;
  how.size = sizeof how;
  how.bp_type = HW_BREAKPOINT_W;
  how.bp_addr = address;
  how.bp_len = size;
  how.exclude_kernel = how.exclude_hv = 1;
  how.sigtrap = how.remove_on_exec = 1;
  return how;
}

UniqueFd open_event(pid_t thread, perf_event_attr how) {
  bool fits = how.bp_len == 1 || how.bp_len == 2 || how.bp_len == 4 || how.bp_len == 8;
  if (!fits || how.bp_addr % how.bp_len != 0) return {};
  return UniqueFd(static_cast<int>(syscall(SYS_perf_event_open, &how, thread, -1, -1, PERF_FLAG_FD_CLOEXEC)));
}

}  // namespace

UniqueFd stop_at_write(pid_t thread, uint64_t address, uint32_t size, uint64_t count) {
  perf_event_attr how = writes_to(address, size);
  how.sample_period = count;
  return open_event(thread, how);
}

UniqueFd tell_of_writes(pid_t thread, uint64_t address, uint32_t size, uint64_t number) {
  perf_event_attr how = writes_to(address, size);
  how.sample_period = 1;
  how.sig_data = number;
  how.inherit = how.inherit_thread = 1;
  return open_event(thread, how);
}

}  // namespace pastcone::replay

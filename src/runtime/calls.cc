// The table of system calls: for each, what goes in, what comes out, and who handles it. Calls that are not here are
// unsupported. docs/limitations.md names the declined ones.
#include <initializer_list>

#include "calls_files.h"
#include "calls_io.h"
#include "calls_processes.h"

namespace pastcone::runtime {
namespace {

constexpr table::Table make_table() {
  table::Table t{};
  table::add_io_calls(t);
  table::add_process_calls(t);
  table::add_file_calls(t);

  // programs fall back from these
  for (u32 nr : {__NR_splice, __NR_tee, __NR_vmsplice, __NR_copy_file_range, __NR_io_uring_enter, __NR_io_uring_register,
                 __NR_io_submit, __NR_io_getevents, __NR_io_destroy, __NR_io_cancel, __NR_io_pgetevents,
                 __NR_process_madvise, __NR_memfd_secret, __NR_landlock_create_ruleset, __NR_landlock_add_rule,
                 __NR_landlock_restrict_self, __NR_futex_waitv, __NR_name_to_handle_at, __NR_open_by_handle_at})
    t.declined(nr);
  // and from some of these, which the user should know about
  for (u32 nr : {__NR_io_uring_setup, __NR_io_setup, __NR_userfaultfd, __NR_bpf, __NR_perf_event_open,
                 __NR_process_vm_readv, __NR_process_vm_writev, __NR_pidfd_getfd})
    t.denied(nr);
  t.native(__NR_restart_syscall, 0);
  return t;
}

constexpr table::Table kTable = make_table();

}  // namespace

const CallInfo* const call_table = kTable.of;

const char* call_name(u32 number) {
  switch (number) {
#define PASTCONE_CALL(nr, name) \
  case nr: return #name;
#include "pastcone/trace/calls.inc"
#undef PASTCONE_CALL
    default: return "?";
  }
}

}  // namespace pastcone::runtime

// Who a process is, what it may do to itself and others, and how it leaves a recording.
#include "handlers.h"
#include "text.h"
#include "turn.h"

namespace pastcone::runtime {

long handle_getppid(Call& c) {
  auto execute = [](Call& call) -> long {
    long parent = raw(call);
    // Orphans come to the recorder, which is nobody to the program.
    bool orphan = parent == (long)g.stage.header().tool_pid && call.t.process->parent_pid &&
                  call.t.process->parent_pid != parent;
    return orphan ? 1 : parent;
  };
  return logged(c, execute, nullptr);
}

long handle_set_tid_address(Call& c) {
  c.t.clear_tid = c.a[0];
  return logged(c, [](Call& call) -> long { return call.t.tid; }, nullptr);
}

long handle_set_robust_list(Call& c) {
  c.t.robust_list = c.a[0];
  return logged(c, raw, nullptr);
}

long handle_arch_prctl(Call& c) {
  if (c.a[0] == 0x1002 || c.a[0] == 0x1003) {  // ARCH_SET_FS, ARCH_GET_FS
    long result = raw(c);
    if (g.replay) replay_result(c);
    else record_result(c, result);
    return result;
  }
  if (c.a[0] == 0x1001) return logged(c, [](Call&) -> long { return -EPERM; }, nullptr);
  return logged(c, raw, nullptr);
}

long handle_prctl(Call& c) {
  switch ((i32)c.a[0]) {
    case 22: return handle_seccomp(c);
    case 26: case 35: case 59:  // TSC, MM, SYSCALL_USER_DISPATCH: they would shut us out
      return logged(c, [](Call&) -> long { return -EINVAL; }, c.info.outs);
    case 15:
      if (g.replay) raw(c);  // the name, for whoever looks with ps
      break;
    default: break;
  }
  return logged(c, raw, c.info.outs);
}

/// A filter would judge our calls as well as the program's: recording ends here, before it is there.
long handle_seccomp(Call& c) {
  bool asks = c.number == __NR_seccomp && c.a[0] >= 2;  // SECCOMP_GET_ACTION_AVAIL …
  if (asks) return logged(c, [](Call&) -> long { return -EINVAL; }, nullptr);
  return leave_recording(c, format::StopReason::kUnsupportedCall, "installs a seccomp filter");
}

namespace {
void ptrace_outs(Exchange& x, const u64* a, long result) {
  if (is_error(result)) return;
  switch (a[0]) {
    case 1: case 2: case 3: case 0x4201: x.out(a[3], 8); return;   // PEEK…, GETEVENTMSG
    case 12: x.out(a[3], 27 * 8); return;                          // GETREGS
    case 14: x.out(a[3], 512); return;                             // GETFPREGS
    case 0x4202: x.out(a[3], 128); return;                         // GETSIGINFO
    case 0x4204: {                                                 // GETREGSET
      Iovec set{};
      x.out(a[3], sizeof set);
      if (read_memory(set, a[3])) x.out(set.base, set.length);
      return;
    }
    default: return;
  }
}
}  // namespace

/// Allowed to a process that looks at the one whose memory it is in, as LeakSanitizer does at the end of a program. A
/// debugger would see the runtime's doings, not the program's.
long handle_ptrace(Call& c) {
  bool own = c.t.process->in_parents_memory;
  if (!own)
    remark(c.t, "ptrace", " (EPERM): debuggers and tracers do not work while recording; record their program alone");
  return logged(c, own ? raw : [](Call&) -> long { return -EPERM; }, ptrace_outs);
}

void remark(Thread& t, const char* what, const char* more) {
  auto& slot = g.stage.process(t.process->number);
  if (g.replay || !swap_if(slot.remark, (u32)stage::Remark::kNone, (u32)stage::Remark::kSaid)) return;
  Text(slot.report, sizeof slot.report) << "was denied " << what << more;
}

void go_unrecorded(Thread& t, format::StopReason reason, const char* why) {
  Log& log = t.log;
  log.payload(why, strlen(why));
  log.begin();
  log.byte((u8)Op::kStop);
  log.varint((u64)reason);
  log.varint(strlen(why));
  ++log.event_count;
  log.commit();
  auto& slot = g.stage.process(t.process->number);
  if (__atomic_exchange_n(&slot.remark, (u32)stage::Remark::kLeft, __ATOMIC_ACQ_REL) != (u32)stage::Remark::kLeft) {
    Text(slot.report, sizeof slot.report) << why;
    slot.diverged_thread = t.number;
    slot.diverged_event = log.event_count;
  }
  // Whatever this process sends from now on, its receivers must store.
  Process& p = *t.process;
  for (u32 i = 0; i < p.fds.size; ++i) {
    const Fd& fd = p.fds.of[i];
    if (fd.kind != FdKind::kConnection) continue;
    auto& direction = g.stage.connection(fd.object).direction[fd.end];
    if (load(direction.outside_from) == ~u64{0}) store(direction.outside_from, load(direction.sent));
  }
  p.outside = true;
  close_log();
}

long leave_recording(Call& c, format::StopReason reason, const char* why) {
  if (g.replay) {
    take_recorded_turn(c.t);
    end_of_log(c.t);
  }
  go_unrecorded(c.t, reason, why);
  return raw(c);
}

}  // namespace pastcone::runtime

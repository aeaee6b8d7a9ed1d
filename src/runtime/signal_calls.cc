// Signals: the program's calls about them. What they change is ours to keep; the kernel is told what concerns it.
#include "handlers.h"
#include "signal_frame.h"
#include "signals.h"
#include "unwinding.h"

namespace pastcone::runtime {
namespace {
/// These calls change nothing but what we keep ourselves: the same in both modes, only noted.
long noted(Call& c, long result) {
  if (!g.replay) {
    record_result(c, result);
    return result;
  }
  long recorded = replay_result(c);
  if (recorded != result) diverge(c.t, Cause::kFlow, "another result", recorded, result, call_name(c.number));
  return result;
}
}  // namespace

long handle_sigaction(Call& c) {
  int signal = (int)c.a[0];
  if (signal < 1 || signal > 64 || c.a[3] != 8 || (c.a[1] && (signal_bit(signal) & kNeverBlocked)))
    return noted(c, -EINVAL);
  KernelAction& action = c.t.process->actions.of[signal];
  KernelAction wanted = action;
  if (c.a[1] && !read_memory(wanted, c.a[1])) return noted(c, -EFAULT);
  if (c.a[2] && !write_memory(c.a[2], &action, sizeof action)) return noted(c, -EFAULT);
  if (c.a[1]) {
    action = wanted;
    action.mask &= ~kNeverBlocked;
    if (!g.replay) apply_action(signal, wanted.handler, wanted.flags & 3);  // SA_NOCLDSTOP, SA_NOCLDWAIT
  }
  return noted(c, 0);
}

long handle_sigprocmask(Call& c) {
  auto& s = c.t.signals;
  u64 mask = s.mask, change = 0;
  if (c.a[3] != 8) return noted(c, -EINVAL);
  if (c.a[1]) {
    if (!read_memory(change, c.a[1])) return noted(c, -EFAULT);
    switch ((int)c.a[0]) {
      case 0: mask |= change; break;
      case 1: mask &= ~change; break;
      case 2:
        mask = change;
        prepare_setcontext(c.frame, c.a[1]);
        break;
      default: return noted(c, -EINVAL);
    }
  }
  if (c.a[2] && !write_memory(c.a[2], &s.mask, 8)) return noted(c, -EFAULT);
  mask &= ~kNeverBlocked;
  if (mask != s.mask) {
    s.mask = mask;
    if (!g.replay) sync_kernel_mask(c.t);
  }
  return noted(c, 0);
}

long handle_sigreturn(Call& c) {
  if (!restore_signal_frame(c.t, c.frame)) {
    if (g.replay) diverge(c.t, Cause::kMemory, "a broken signal frame");
    die_of(11);
  }
  if (!g.replay) sync_kernel_mask(c.t);  // it may die of one that was blocked: then it has not gone on
  noted(c, 0);
  return (long)c.frame.rax;
}

long handle_sigpending(Call& c) {
  auto execute = [](Call& call) -> long {
    long result = raw(call);
    u64 pending;
    if (!result && read_memory(pending, call.a[0])) {
      pending |= load(call.t.signals.captured);
      pending &= call.t.signals.mask;
      write_memory(call.a[0], &pending, 8);
    }
    return result;
  };
  return logged(c, execute, c.info.outs);
}

long handle_sigsuspend(Call& c) {
  TemporaryMask mask(c.t, c.a[0]);
  if (g.replay) {
    long result = replay_result(c);
    take_turn_behind(c.t);
    mask.leave_replay();
    return result;
  }
  long result = -EINTR;
  while (!(load(c.t.signals.captured) & ~c.t.signals.mask)) blocking(c.t, __NR_pause);
  record_result(c, result);
  mask.leave();
  return result;
}

long handle_sigtimedwait(Call& c) {
  auto execute = [](Call& call) -> long {
    // One that was taken from the kernel before the program blocked it
    u64 wanted;
    auto& s = call.t.signals;
    if (read_memory(wanted, call.a[0]))
      if (u64 have = load(s.captured) & wanted) {
        int signal = __builtin_ctzll(have) + 1;
        if (call.a[1]) write_memory(call.a[1], &s.info[signal], sizeof(SignalInfo));
        __atomic_fetch_and(&s.captured, ~signal_bit(signal), __ATOMIC_ACQ_REL);
        sync_kernel_mask(call.t);
        return signal;
      }
    long result = raw_blocking(call);
    return result == kRestart ? -EINTR : result;
  };
  return logged(c, execute, c.info.outs);
}

long handle_sigaltstack(Call& c) {
  struct { u64 address; i32 flags; i32 pad; u64 size; } stack{}, old{};
  auto& s = c.t.signals;
  bool on = c.frame.rsp - s.altstack < s.altstack_size && s.altstack;
  old.address = s.altstack;
  old.size = s.altstack_size;
  old.flags = !s.altstack ? 2 : (i32)(s.altstack_flags | (on ? 1 : 0));
  if (c.a[0]) {
    if (!read_memory(stack, c.a[0])) return noted(c, -EFAULT);
    if (on) return noted(c, -EPERM);
    if ((stack.flags & 3) != 2 && stack.size < 2048) return noted(c, -ENOMEM);
    if (stack.flags & 2) s.altstack = s.altstack_size = s.altstack_flags = 0;
    else {
      s.altstack = stack.address;
      s.altstack_size = stack.size;
      s.altstack_flags = (u32)stack.flags & 0x80000000;
    }
  }
  if (c.a[1] && !write_memory(c.a[1], &old, sizeof old)) return noted(c, -EFAULT);
  return noted(c, 0);
}

}  // namespace pastcone::runtime

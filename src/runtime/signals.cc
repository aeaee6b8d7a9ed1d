// Signals, from the kernel to the program.
//
// Asynchronous ones: the kernel's handler is on_signal below, which notes the signal and blocks it (so the kernel queues
// what comes after it, and none is lost); it is delivered on leaving the next recorded call, and the log says where.
// Synchronous ones (a fault of the program) happen again by themselves in replay. Both end in a frame on the program's
// stack that looks as if the kernel had built it.
#include "signals.h"

#include "absent_pages.h"
#include "async.h"
#include "handlers.h"
#include "horizon.h"
#include "journal.h"
#include "robust.h"
#include "signal_frame.h"
#include "traps.h"
#include "turn.h"
#include "unwinding.h"
#include "waits.h"
#include "where.h"

namespace pastcone::runtime {
namespace {

constexpr u64 kSigInfo = 4, kOnStack = 0x08000000, kRestartFlag = 0x10000000, kNoDefer = 0x40000000,
              kResetHand = 0x80000000, kRestorer = 0x04000000;
constexpr u64 kDefault = 0, kIgnore = 1;
constexpr int kSegv = 11, kPipe = 13, kSys = 31;
constexpr u64 kSynchronous = signal_bit(4) | signal_bit(5) | signal_bit(7) | signal_bit(8) | signal_bit(kSegv);

void on_signal(int signal, SignalInfo* info, KernelFrame* kernel);
bool is_synchronous(int signal) { return kSynchronous & signal_bit(signal); }
/// The kernel always has our handler for these, and never blocks them.
bool is_always_ours(int signal) { return is_synchronous(signal) || signal == kSys || signal == kInterruptSignal; }

void set_kernel_action(int signal, u64 handler, u64 flags) {
  KernelAction action{handler, flags | kRestorer, (u64)runtime_restorer, ~u64{0}};
  // These look at the program's memory, which may not be there.
  if (signal == 5 || signal == kSys || signal == kInterruptSignal) action.mask &= ~(signal_bit(7) | signal_bit(kSegv));
  sys(__NR_rt_sigaction, signal, &action, 0, 8);
}

void update_interrupt(Thread& t) {
  store(t.interrupt, (load(t.signals.captured) & ~t.signals.mask) ? 1u : 0u);
}

}  // namespace

void apply_action(int signal, u64 handler, u64 flags) {
  if (is_always_ours(signal)) return;
  // SIGPIPE, too, which comes of what the program does itself: else it would die of it in the middle of a send, and nobody
  // would know that nothing was sent.
  bool ours = handler > kIgnore || (signal == kPipe && handler == kDefault);
  if (ours) set_kernel_action(signal, (u64)on_signal, kSigInfo | kOnStack | flags);
  else set_kernel_action(signal, handler, flags);
}

void die_of(int signal) {
  set_kernel_action(signal, kDefault, 0);
  u64 none = 0;
  sys(__NR_rt_sigprocmask, 2, &none, 0, 8);
  sys(__NR_tkill, sys(__NR_gettid), signal);
  sys(__NR_exit_group, 128 + signal);
  __builtin_unreachable();
}

namespace {

// --- delivery -------------------------------------------------------------------------------------------------------------

/// The program's handler for `signal` is the next thing to run.
void enter_handler(Thread& t, Frame& frame, int signal, const SignalInfo& info, const FaultState* fault) {
  KernelAction& action = t.process->actions.of[signal];
  auto& s = t.signals;
  u64 old_mask = s.saved_mask_valid ? s.saved_mask : s.mask;
  s.saved_mask_valid = false;
  if (!build_signal_frame(t, frame, signal, info, action, old_mask, fault)) {
    if (g.replay) diverge(t, Cause::kMemory, "no room on the stack for a signal", 0, signal);
    die_of(kSegv);
  }
  s.mask |= action.mask;
  if (!(action.flags & kNoDefer)) s.mask |= signal_bit(signal);
  s.mask &= ~kNeverBlocked;
  if (action.flags & kResetHand) {
    action.handler = kDefault;
    if (!g.replay && !is_synchronous(signal)) apply_action(signal, kDefault, 0);
  }
}

/// A call was interrupted: what the program sees depends on the handler that runs now.
void settle_restart(Frame& frame, u64 action_flags) {
  if (frame.full || !is_restart((long)frame.rax)) return;
  if ((action_flags & kRestartFlag) || (long)frame.rax == kRestartAlways) {
    // Enter the runtime again with the same call, once the handler is done.
    frame.rax = frame.number;
    frame.rcx = frame.rip;
    frame.rip = (u64)runtime_entry_syscall;
    frame.full = 1;
  } else {
    frame.rax = (u64)-EINTR;
  }
}

void record_signal(Thread& t, Op op, int signal, const SignalInfo& info) {
  number_event(t, true);  // after the call that sent it
  Log& log = t.log;
  log.payload(&info, sizeof info);
  log.begin();
  log.byte((u8)op);
  log.varint((u64)signal);
  log.varint(sizeof info);
  log.check();
  ++log.event_count;
  log.commit();
}

void record_death(Thread& t, int signal) {
  Log& log = t.log;
  log.begin();
  log.byte((u8)Op::kFatal);
  log.varint((u64)signal);
  log.word64(log.hash.state);
  ++log.event_count;
  log.commit();
  release_all_robust_mutexes(t);
}

[[noreturn]] void replay_death(Thread& t, int signal) {
  t.log.read_byte();
  if ((int)t.log.read_varint() != signal || t.log.read_word64() != t.log.hash.state)
    diverge(t, Cause::kFlow, "died otherwise", 0, signal);
  ++t.log.event_count;
  release_all_robust_mutexes(t);
  end_replayed_process(t);
}

bool read_signal(Thread& t, int& signal, SignalInfo& info) {
  Log& log = t.log;
  log.read_byte();
  signal = (int)log.read_varint();
  u64 size = log.read_varint();
  const char* bytes = log.read_payload(size);
  if (!bytes || size != sizeof info || signal < 1 || signal > 64) return false;
  memcpy(&info, bytes, sizeof info);
  log.read_byte();
  ++log.event_count;
  note_next_event(t);
  return true;
}

}  // namespace

bool signal_is_next(Thread& t) {
  Log& log = t.log;
  u64 at = log.events.at;
  if (t.process->parallel && log.peek() == Op::kTurn) {
    log.read_byte();
    log.read_varint();
    log.read_varint();
  }
  bool is = log.peek() == Op::kSignal;
  log.events.at = at;
  return is;
}

void clear_interrupt(Thread& t) { update_interrupt(t); }

u64 kernel_mask() {
  u64 mask = 0;
  sys(__NR_rt_sigprocmask, 0, 0, &mask, 8);
  return mask;
}

u64 kernel_ignored() {
  u64 ignored = 0;
  for (int signal = 1; signal <= 64; ++signal) {
    KernelAction action{};
    if (!sys(__NR_rt_sigaction, signal, 0, &action, 8) && action.handler == kIgnore) ignored |= signal_bit(signal);
  }
  return ignored;
}

void sync_kernel_mask(Thread& t) {
  u64 mask, captured;
  do {
    captured = load(t.signals.captured);
    // In replay nothing from outside concerns the program.
    mask = g.replay ? ~u64{0} : t.signals.mask | captured;
    mask &= ~(kSynchronous | signal_bit(kSys));
    mask &= ~signal_bit(kInterruptSignal);
    sys(__NR_rt_sigprocmask, 2, &mask, 0, 8);
  } while (captured != load(t.signals.captured));
  update_interrupt(t);
}

namespace {
/// Of a signal that was taken from the kernel, and is the end: behind the call.
[[noreturn]] void replay_deadly(Thread& t, Frame& frame, int signal) {
  park_on_leaving(t);
  if (is_located()) note_place(t, frame);
  take_recorded_turn(t);
  if (t.log.at_end()) end_of_log(t);
  if (t.log.peek() != Op::kFatal) diverge_at(t, t.log.peek(), "death by a signal");
  replay_death(t, signal);
}
}  // namespace

void deliver_signals(Thread& t, Frame& frame) {
  auto& s = t.signals;
  if (g.replay) {
    while (signal_is_next(t)) {
      take_recorded_turn(t);
      int signal;
      SignalInfo info;
      if (!read_signal(t, signal, info)) end_of_log(t);
      if (t.process->actions.of[signal].handler == kDefault) replay_deadly(t, frame, signal);
      settle_restart(frame, t.process->actions.of[signal].flags);
      if (signal == kCancelSignal && info.pad == kPutOff) note_cancel();
      else enter_handler(t, frame, signal, info, nullptr);
      park_on_leaving(t);
    }
    if (is_restart((long)frame.rax)) settle_restart(frame, kRestartFlag);
    foretell_fault(t);
    return;
  }
  store(t.busy, false);  // what comes after this look has to wait for the next one
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  if (!load(t.interrupt)) {
    if (is_restart((long)frame.rax)) settle_restart(frame, kRestartFlag);
    return;
  }
  while (u64 due = load(s.captured) & ~s.mask) {
    int signal = __builtin_ctzll(due) + 1;
    SignalInfo info = s.info[signal];
    __atomic_fetch_and(&s.captured, ~signal_bit(signal), __ATOMIC_ACQ_REL);
    KernelAction action = t.process->actions.of[signal];
    if (action.handler == kIgnore) continue;
    if (action.handler == kDefault && signal == kPipe) {
      record_signal(t, Op::kSignal, signal, info);
      record_death(t, signal);
      die_of(signal);
    }
    if (action.handler == kDefault) {
      // The program took its handler away after the signal had come.
      sync_kernel_mask(t);
      sys(__NR_rt_tgsigqueueinfo, sys(__NR_getpid), sys(__NR_gettid), signal, &info);
      continue;
    }
    settle_restart(frame, action.flags);
    bool put_off = signal == kCancelSignal && is_cancel_put_off(t);
    if (put_off) info.pad = kPutOff;
    record_signal(t, Op::kSignal, signal, info);
    if (put_off) note_cancel();
    else enter_handler(t, frame, signal, info, nullptr);
  }
  sync_kernel_mask(t);
  if (is_restart((long)frame.rax)) settle_restart(frame, kRestartFlag);
}

// --- from the kernel --------------------------------------------------------------------------------------------------------

namespace {

/// On the runtime's stack, after the kernel's handler has returned: the program faulted at signals.fault_frame.
[[noreturn]] void on_fault_stack() {
  Thread& t = current();
  auto& s = t.signals;
  Frame frame = s.fault_frame;
  frame.full = 1;
  t.frame = &frame;
  int signal = s.fault_info.signal;
  FaultState fault{s.fault_error, s.fault_trap, s.fault_address};
  t.log.hash.mix(frame.rip);
  t.log.hash.mix((u64)signal);
  const KernelAction& action = t.process->actions.of[signal];
  bool fatal = action.handler <= kIgnore || (s.mask & signal_bit(signal));
  if (g.replay) {
    if (is_located()) note_place(t, frame);
    take_recorded_turn(t);
    if (t.log.at_end()) end_of_log(t);
    bool dies = fatal && (signal != kBus || t.log.peek() == Op::kFatal);
    if (t.log.peek() != (dies ? Op::kFatal : Op::kFault))
      diverge_at(t, t.log.peek(), fatal ? "death by a fault" : "a fault");
    if (dies) replay_death(t, signal);
    int recorded;
    SignalInfo info;
    if (!read_signal(t, recorded, info)) end_of_log(t);
    if (recorded != signal) diverge(t, Cause::kFlow, "another fault", recorded, signal);
    if (fatal) replay_deadly(t, frame, signal);
    enter_handler(t, frame, signal, info, &fault);
    park_on_leaving(t);
    foretell_fault(t);
    prepare_async(t, frame);
    t.frame = nullptr;
    runtime_leave(&frame);
  }
  if (fatal) {
    if (signal == kBus) record_signal(t, Op::kFault, signal, s.fault_info);  // for its address
    record_death(t, signal);
    if (signal == 5) die_of(signal);  // a trap is over once it has happened
    // Fault again, with nobody to catch it: status and core file are the kernel's.
    set_kernel_action(signal, kDefault, 0);
    sync_kernel_mask(t);
    runtime_leave(&frame);
  }
  record_signal(t, Op::kFault, signal, s.fault_info);
  enter_handler(t, frame, signal, s.fault_info, &fault);
  sync_kernel_mask(t);
  runtime_leave(&frame);
}

void on_signal(int signal, SignalInfo* info, KernelFrame* kernel) {
  Thread& t = current();
  auto& s = t.signals;
  KernelContext& context = kernel->context;
  if (is_synchronous(signal) && info->code > 0) {
    if (signal == 5 && on_watched_write(t, *info, context.rip)) return;
    if (context.rip >= (u64)runtime_copy && context.rip < (u64)runtime_copy_end) {
      context.rip = context.rip < (u64)runtime_copy_bytes ? (u64)runtime_copy_bytes : (u64)runtime_copy_fault;
      return;
    }
    if (signal == 5 && (on_breakpoint(t, context) || on_trap(context))) return;
    end_survey(t, context);
    bool hook = context.rip >= (u64)runtime_hooks_begin && context.rip < (u64)runtime_hooks_end;
    if (in_runtime(context.rip) && !hook) {
      // Our own bug, or the program's memory vanished under us.
      report_own_fault(t, signal, context.rip, context.cr2);
      return;
    }
    to_frame(s.fault_frame, context);
    s.fault_info = *info;
    constexpr u64 kPresent = 1;
    if (g.replay && take_foretold_fault(t, context.cr2, s.fault_info)) context.error &= ~kPresent;
    s.fault_error = context.error;
    s.fault_trap = context.trap;
    s.fault_address = context.cr2;
    context.rip = (u64)on_fault_stack;
    context.rsp = t.stack_top - 8;
    context.flags &= ~u64{0x500};
    return;
  }
  if (is_interruption(signal, *info)) {
    on_interruption(t, context);
    return;
  }
  KernelAction& action = t.process->actions.of[signal];
  if (action.handler == kIgnore || (action.handler == kDefault && signal == kInterruptSignal)) return;
  if (action.handler == kDefault && signal != kPipe && !(s.mask & signal_bit(signal))) {
    // Only those that are always ours have our handler without one of the program's.
    set_kernel_action(signal, kDefault, 0);
    sys(__NR_tkill, sys(__NR_gettid), signal);
    kernel->mask &= ~signal_bit(signal);
    return;
  }
  s.info[signal] = *info;
  __atomic_fetch_or(&s.captured, signal_bit(signal), __ATOMIC_ACQ_REL);
  if (!is_always_ours(signal)) kernel->mask |= signal_bit(signal);  // ours must still come through
  update_interrupt(t);
  if (t.interrupt && !g.replay) t.counts = 0;
  if (t.interrupt && !t.busy) interrupt_soon(t);
  if (t.interrupt && context.rip >= (u64)runtime_window_begin && context.rip < (u64)runtime_window_end)
    context.rip = (u64)runtime_window_abort;
}

/// `int $0x80`, whose numbers are those of 32-bit programs. It leaves no event, and no register changes but the result.
bool is_32_bit_call(const SignalInfo& info) {
  constexpr u64 kX86_64 = 0xc000003e;  // AUDIT_ARCH_X86_64
  return info.rest[1] >> 32 != kX86_64;
}

void decline_32_bit_call(KernelContext& context) {
  remark(current(), "32-bit calls", " (int $0x80, ENOSYS), which cannot be recorded");
  context.rax = (u64)-ENOSYS;
}

/// Syscall User Dispatch: a call from a place that is not patched goes the way of the others.
void on_dispatch(int signal, SignalInfo* info, KernelFrame* kernel) {
  KernelContext& context = kernel->context;
  if (info->code <= 0 && !g.replay) return on_signal(signal, info, kernel);  // somebody sent it to the program
  if (info->code != 2) return;  // SYS_USER_DISPATCH
  if (on_runtime_stack(context.rsp)) {
    // The kernel's vDSO, called by ourselves, does not know this clock.
    context.rax = (u64)sys6((long)context.rax, context.rdi, context.rsi, context.rdx, context.r10, context.r8, context.r9);
    return;
  }
  if (is_32_bit_call(*info)) return decline_32_bit_call(context);
  end_survey(current(), context);
  context.rcx = context.rip;
  context.r11 = context.flags;
  context.rip = (u64)runtime_entry_syscall;
}

}  // namespace

void install_fault_handlers() {
  for (int signal = 1; signal <= 64; ++signal)
    if (is_synchronous(signal)) set_kernel_action(signal, (u64)on_signal, kSigInfo | kOnStack);
  set_kernel_action(kInterruptSignal, (u64)on_signal, kSigInfo | kOnStack);
  set_kernel_action(kSys, (u64)on_dispatch, kSigInfo | kOnStack | kNoDefer);
}

void set_up_signals(Thread& t, u64 ignored, u64 blocked) {
  for (int signal = 1; signal <= 64; ++signal)
    t.process->actions.of[signal] = KernelAction{ignored & signal_bit(signal) ? kIgnore : kDefault, 0, 0, 0};
  t.signals.mask = blocked & ~kNeverBlocked;
  if (!g.replay && !(ignored & signal_bit(kPipe))) apply_action(kPipe, kDefault, 0);
}

}  // namespace pastcone::runtime

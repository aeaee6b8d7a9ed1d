#include "async_parts.h"

#include "call.h"
#include "horizon.h"
#include "turn.h"
#include "waits.h"

namespace pastcone::runtime {
namespace {

constexpr u64 kComparedFlags = 0xcd5;  // arithmetic and direction flags
constexpr i64 kPatience = 50'000'000;  // ns without a call

constexpr u64 kLong = 100'000'000, kShort = 20'000'000;  // ticks: some 40 and 8 milliseconds

/// Record: whether it makes sense to stop the thread. Others who wait for their turn have to be patient if the last time took
/// long, so that a program of computing threads does not spend its time being surveyed.
bool is_wanted(Thread& t) {
  if (load(t.signals.captured) & ~t.signals.mask) return true;
  if (!t.process->serial || !load(group_of(t).waiters)) return false;
  return ticks() - t.slice_start >= (t.async.quick ? max(t.async.cost, kShort) : max(t.async.rest, kLong));
}

/// If the others did not compute for long, the thread gives them the turn sooner next time.
void end_slice_here(Thread& t) {
  u64 before = ticks();
  t.yields = true;
  end_slice(t);
  t.async.quick = ticks() - before < kShort;
}

[[noreturn]] void on_end_stack() { end_of_log(current()); }

}  // namespace

void registers_of(const Frame& f, u64 (&out)[18]) {
  u64 all[18] = {f.rax, f.rbx, f.rcx, f.rdx, f.rsi, f.rdi, f.rbp, f.rsp, f.r8,
                 f.r9,  f.r10, f.r11, f.r12, f.r13, f.r14, f.r15, f.rip, f.flags & kComparedFlags};
  memcpy(out, all, sizeof all);
}

void write_code(u64 address, const void* bytes, u64 n) {
  u64 begin = page_down(address);
  sys(__NR_mprotect, begin, page_up(address + n) - begin, kProtRead | kProtWrite | kProtExec);
  for (u64 i = 0; i < n; ++i) ((volatile u8*)address)[i] = ((const u8*)bytes)[i];
}

void arm_timer(Thread& t, i64 nanoseconds) {
  struct { Timespec interval, value; } when{{0, 0}, {0, nanoseconds}};
  if (t.timer && !sys(__NR_timer_settime, t.timer - 1, 0, &when, 0)) return;  // after a fork it is gone
  struct { u64 value; i32 signal, notify; i32 tid; i32 pad[11]; } event{
      kInterruptMark, kInterruptSignal, 4, (i32)sys(__NR_gettid), {}};
  i32 id = 0;
  if (sys(__NR_timer_create, 1, &event, &id)) return;
  t.timer = (u32)id + 1;
  sys(__NR_timer_settime, t.timer - 1, 0, &when, 0);
}

void divert(Thread& t, KernelContext& context) {
  to_frame(t.signals.fault_frame, context);
  context.rip = (u64)on_async_stack;
  context.rsp = t.stack_top - 8;
  context.flags &= ~u64{0x500};
}

void on_async_stack() {
  Thread& t = current();
  Frame frame = t.signals.fault_frame;
  frame.full = 1;
  t.frame = &frame;
  if (!g.replay) {
    if (is_wanted(t)) {
      const AsyncPoint& point = t.async.point;
      Log& log = t.log;
      log.payload(&point, point.size());
      log.begin();
      log.byte((u8)Op::kAsync);
      log.varint(point.size());
      log.check();
      ++log.event_count;
      log.commit();
      end_slice_here(t);
      deliver_signals(t, frame);
    }
    runtime_leave(&frame);
  }
  park_on_entering(t);
  ++t.log.event_count;
  note_next_event(t);
  take_recorded_turn_after(t);
  deliver_signals(t, frame);
  prepare_async(t, frame);
  t.frame = nullptr;
  runtime_leave(&frame);
}

void interrupt_holder(u32 tid) {
  SignalInfo info{};
  info.signal = kInterruptSignal;
  info.code = -1;  // SI_QUEUE
  info.rest[0] = (u64)sys(__NR_getuid) << 32 | (u32)sys(__NR_getpid);
  info.rest[1] = kInterruptMark;
  // We know its tid, not its process: the kernel wants both, so ask /proc only if it is not one of ours.
  long result = sys(__NR_rt_tgsigqueueinfo, sys(__NR_getpid), tid, kInterruptSignal, &info);
  if (result == -ESRCH) sys(__NR_rt_sigqueueinfo, tid, kInterruptSignal, &info);
}

void interrupt_soon(Thread& t) { arm_timer(t, kPatience); }

bool is_interruption(int signal, const SignalInfo& info) {
  return signal == kInterruptSignal && (info.code == -1 || info.code == -2) && info.rest[1] == kInterruptMark;
}

void on_interruption(Thread& t, KernelContext& context) {
  t.yields = true;
  AsyncState& a = t.async;
  if (g.replay && t.log.at_end()) {
    bool has_operations = t.process->parallel && *t.operations < t.all_operations;  // which others may wait for
    if (is_ours(context) || has_operations) {
      arm_timer(t, kAfterLog);
      return;
    }
    context.rip = (u64)on_end_stack;
    context.rsp = t.stack_top - 8;
    context.flags &= ~u64{0x500};
    return;
  }
  if (g.replay || a.surveying || !is_wanted(t)) return;
  if (is_ours(context)) {
    // Still no call that counts: it reads the time stamp counter again and again.
    arm_timer(t, a.marker == t.log.hash.state ? kRetry : kPatience);
    a.marker = t.log.hash.state;
    return;
  }
  survey(t, context);
}

}  // namespace pastcone::runtime

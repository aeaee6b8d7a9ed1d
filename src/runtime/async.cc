#include "async.h"

#include "call.h"
#include "turn.h"

namespace pastcone::runtime {
namespace {

constexpr u64 kComparedFlags = 0xcd5;  // arithmetic and direction flags
constexpr u64 kTrapFlag = 0x100;
constexpr u32 kMostMisses = 400'000;  // a few seconds
constexpr i64 kPatience = 50'000'000;  // ns without a call

bool in_runtime(u64 rip) { return rip >= (u64)runtime_text_begin && rip < (u64)runtime_text_end; }
bool on_runtime_stack(u64 rsp) { return rsp >= kSlotsBase && rsp < kSlotsBase + 65536 * kSlotSize; }

void to_frame(Frame& frame, const KernelContext& k) {
  frame = Frame{k.r15, k.r14, k.r13, k.r12, k.rbp, k.rbx, k.r11, k.r10, k.r9, k.r8, k.rax, k.rcx, k.rdx, k.rsi, k.rdi,
                0, 1, k.rip, k.flags, k.rsp};
}

void registers_of(const Frame& f, u64 (&out)[18]) {
  u64 all[18] = {f.rax, f.rbx, f.rcx, f.rdx, f.rsi, f.rdi, f.rbp, f.rsp, f.r8,
                 f.r9,  f.r10, f.r11, f.r12, f.r13, f.r14, f.r15, f.rip, f.flags & kComparedFlags};
  memcpy(out, all, sizeof all);
}

/// What is near the top of the stack, red zone included.
u64 stack_digest(u64 rsp) {
  Hash hash;
  for (u64 at = rsp - 128; at < rsp + 2048; at += 8) {
    u64 word;
    if (!read_memory(word, at)) break;
    hash.mix(word);
  }
  return hash.state;
}

bool matches(const Frame& frame, const format::AsyncPoint& point) {
  u64 now[18];
  registers_of(frame, now);
  return !memcmp(now, point.registers, sizeof now) && stack_digest(frame.rsp) == point.stack_digest;
}

/// A frame as it is after a call has rcx and r11 that are not in it.
Frame as_full(const Frame& frame) {
  Frame full = frame;
  if (!frame.full) {
    full.rcx = frame.rip;
    full.r11 = frame.flags;
    full.full = 1;
  }
  return full;
}

[[noreturn]] void on_async_stack() {
  Thread& t = current();
  Frame frame = t.signals.fault_frame;
  frame.full = 1;
  t.frame = &frame;
  if (!g.replay) {
    bool signals = load(t.signals.captured) & ~t.signals.mask;
    bool others = t.process->serial && load(g.stage.group(t.process->group).waiters);
    if (signals || others) {
      format::AsyncPoint point;
      registers_of(frame, point.registers);
      point.stack_digest = stack_digest(frame.rsp);
      Log& log = t.log;
      log.payload(&point, sizeof point);
      log.begin();
      log.byte((u8)Op::kAsync);
      log.varint(sizeof point);
      log.check();
      ++log.event_count;
      log.commit();
      t.yields = true;
      end_slice(t);
      deliver_signals(t, frame);
    }
    runtime_leave(&frame);
  }
  ++t.log.event_count;
  take_recorded_turn_after(t);
  deliver_signals(t, frame);
  prepare_async(t, frame);
  runtime_leave(&frame);
}

/// Diverts the thread, which is in a signal handler of ours, to on_async_stack.
void divert(Thread& t, KernelContext& context) {
  to_frame(t.signals.fault_frame, context);
  context.rip = (u64)on_async_stack;
  context.rsp = t.stack_top - 8;
  context.flags &= ~u64{0x500};
}

void set_byte(u64 address, u8 byte) {
  sys(__NR_mprotect, page_down(address), kPage, kProtRead | kProtWrite | kProtExec);
  *(volatile u8*)address = byte;
}

}  // namespace

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

void interrupt_soon(Thread& t) {
  if (!t.timer) {
    struct { u64 value; i32 signal, notify; i32 tid; i32 pad[11]; } event{
        kInterruptMark, kInterruptSignal, 4, (i32)sys(__NR_gettid), {}};
    i32 id = 0;
    if (sys(__NR_timer_create, 1, &event, &id)) return;
    t.timer = (u32)id + 1;
  }
  struct { Timespec interval, value; } when{{0, 0}, {0, kPatience}};
  sys(__NR_timer_settime, t.timer - 1, 0, &when, 0);
}

bool is_interruption(int signal, const SignalInfo& info) {
  return signal == kInterruptSignal && (info.code == -1 || info.code == -2) && info.rest[1] == kInterruptMark;
}

void on_interruption(Thread& t, KernelContext& context) {
  t.yields = true;
  if (in_runtime(context.rip) || on_runtime_stack(context.rsp) || is_trampoline(context.rip)) return;
  divert(t, context);
}

void prepare_async(Thread& t, Frame& frame) {
  if (!g.replay || t.log.peek() != Op::kAsync) return;
  Log& log = t.log;
  log.read_byte();
  u64 size = log.read_varint();
  const char* bytes = log.read_payload(size);
  if (!bytes || size != sizeof(format::AsyncPoint)) end_of_log(t);
  memcpy(&t.async.point, bytes, sizeof t.async.point);
  log.read_byte();
  Frame now = as_full(frame);
  if (matches(now, t.async.point)) {
    t.signals.fault_frame = now;
    runtime_on_stack(t.stack_top, [](void*) { on_async_stack(); }, nullptr);
  }
  u64 rip = t.async.point.registers[16];
  if (!read_memory(t.async.original, rip)) diverge(t, "was interrupted where there is no code now", (i64)rip, 0);
  t.async.armed = true;
  t.async.stepping = false;
  t.async.misses = 0;
  set_byte(rip, 0xcc);
}

bool on_breakpoint(Thread& t, KernelContext& context) {
  if (!t.async.armed) return false;
  u64 at = t.async.point.registers[16];
  if (t.async.stepping) {
    t.async.stepping = false;
    context.flags &= ~kTrapFlag;
    set_byte(at, 0xcc);
    return true;
  }
  if (context.rip != at + 1) return false;
  context.rip = at;
  set_byte(at, t.async.original);
  Frame now;
  to_frame(now, context);
  if (matches(now, t.async.point)) {
    t.async.armed = false;
    divert(t, context);
  } else {
    if (++t.async.misses > kMostMisses)
      diverge(t, "was interrupted in a loop too long to be followed; passes so far", 0, t.async.misses);
    t.async.stepping = true;
    context.flags |= kTrapFlag;
  }
  return true;
}

}  // namespace pastcone::runtime

// How a replayed thread ends other than by the program's own doing: it went another way, or its log is used up.
#include "call.h"
#include "cores.h"
#include "facts.h"
#include "objects.h"
#include "robust.h"
#include "text.h"
#include "turn.h"
#include "waits.h"
#include "where.h"

namespace pastcone::runtime {
namespace {

/// A thread is gone: somebody may have waited for it.
void tell_end() {
  u32& shared_futex = g.stage.header().object_futexes[0];
  add(shared_futex, 1u);
  futex_wake(shared_futex);
  add(g.stage.header().progress, 1u);
  tell_director();
}

[[noreturn]] void end_process() {
  sys(__NR_exit_group, 0);
  __builtin_unreachable();
}

using stage::ReportState;

constexpr int kPatience = 50;  // tenths of a second: the director may be busy, or stopped by somebody

/// Lets the director look at the process, which knows nothing of symbols and files itself.
void wait_to_be_seen(stage::ProcessSlot& slot) {
  Timespec tenth{0, 100'000'000};
  for (int i = 0; i < kPatience && load(slot.diverged) == (u32)ReportState::kWritten; ++i)
    futex_wait(slot.diverged, (u32)ReportState::kWritten, &tenth);
}

void copy_registers(stage::ProcessSlot& slot, const Frame& f) {
  // A call is left behind its instruction, which may be the last of a line or function.
  u64 all[17] = {f.rax, f.rdx, f.rcx, f.rbx, f.rsi, f.rdi, f.rbp, f.rsp, f.r8,
                 f.r9,  f.r10, f.r11, f.r12, f.r13, f.r14, f.r15, f.full ? f.rip : f.rip - 1};
  memcpy(slot.registers, all, sizeof all);
}

/// Whether this thread's divergence is the first of its process. The text is the caller's, then end_diverged().
bool begin_report(stage::ProcessSlot& slot) {
  return swap_if(slot.diverged, (u32)ReportState::kNone, (u32)ReportState::kWriting);
}

[[noreturn]] void end_diverged(Thread& t, bool first, Cause cause) {
  auto& slot = g.stage.process(t.process->number);
  if (first) {
    slot.cause = (u32)cause;
    slot.diverged_thread = t.number;
    slot.diverged_event = load(*t.next_event);
    if (t.frame) copy_registers(slot, *t.frame);
    store(slot.diverged, (u32)ReportState::kWritten);
    add(g.stage.header().diverged, 1u);
  }
  leave_core(slot_of(t));
  store(slot_of(t).state, (u32)stage::ThreadState::kDiverged);
  add(g.stage.header().live_threads, -1);
  tell_end();
  wait_to_be_seen(slot);
  end_process();
}

}  // namespace

const char* op_name(Op op) {
  switch (op) {
    case Op::kNone: return "nothing more";
    case Op::kExec: return "the start of a program";
    case Op::kThreadExit: return "the end of the thread";
    case Op::kExitGroup: return "the end of the process";
    case Op::kSignal: return "a signal";
    case Op::kAsync: return "an interruption";
    case Op::kClock: return "clock_gettime of another clock";
    case Op::kRealtime: return "clock_gettime(CLOCK_REALTIME)";
    case Op::kMonotonic: return "clock_gettime(CLOCK_MONOTONIC)";
    case Op::kTimeOfDay: return "gettimeofday";
    case Op::kTime: return "time";
    case Op::kTsc: return "rdtsc";
    case Op::kRandom: return "rdrand";
    case Op::kFatal: return "death by a signal";
    case Op::kFault: return "a fault";
    default: break;
  }
  size_t frequent = (size_t)op - (size_t)Op::kFirstCall;
  if (op >= Op::kFirstCall && frequent < format::kFrequentCount) return call_name(format::kFrequent[frequent].number);
  return op == Op::kCall ? "another call" : "something else";
}

void diverge(Thread& t, Cause cause, const char* what) {
  auto& slot = g.stage.process(t.process->number);
  bool first = begin_report(slot);
  if (first) Text(slot.report, sizeof slot.report) << what;
  end_diverged(t, first, cause);
}

void diverge(Thread& t, Cause cause, const char* what, const char* recorded, const char* now) {
  auto& slot = g.stage.process(t.process->number);
  bool first = begin_report(slot);
  if (first) Text(slot.report, sizeof slot.report) << what << ": recorded " << recorded << ", now " << now;
  end_diverged(t, first, cause);
}

void diverge(Thread& t, Cause cause, const char* what, i64 recorded, i64 now, const char* detail) {
  auto& slot = g.stage.process(t.process->number);
  bool first = begin_report(slot);
  if (first) {
    Text text(slot.report, sizeof slot.report);
    text << what << ": recorded " << recorded << ", now " << now;
    if (detail) text << " (" << detail << ")";
  }
  end_diverged(t, first, cause);
}

void diverge_at(Thread& t, Op recorded, const char* now) {
  diverge(t, Cause::kFlow, "something else happens", op_name(recorded), now);
}

void end_replayed_thread(Thread& t) {
  auto& slot = slot_of(t);
  note_next_event(t);
  leave_core(slot);
  store(slot.state, (u32)stage::ThreadState::kEnded);
  add(g.stage.header().live_threads, -1);  // before somebody else has the turn, who may end the process
  close_where(t);
  give_back_turn(t);
  tell_end();
}

void end_replayed_process(Thread& t) {
  auto& header = g.stage.header();
  note_next_event(t);
  note_all_dropped(t);
  auto& process = g.stage.process(t.process->number);
  for (u32 i = 0; i < process.thread_count; ++i) {
    auto& slot = g.stage.thread(process.first_thread + i);
    u32 state;
    do {
      state = load(slot.state);
    } while ((state == (u32)stage::ThreadState::kRunning || state == (u32)stage::ThreadState::kWaiting ||
              state == (u32)stage::ThreadState::kAtEnd) &&
             !swap_if(slot.state, state, (u32)stage::ThreadState::kEnded));
    leave_core(slot);
    if (state != (u32)stage::ThreadState::kRunning && state != (u32)stage::ThreadState::kWaiting) continue;
    if (state == (u32)stage::ThreadState::kWaiting) add(header.waiting_threads, -1);
    add(header.live_threads, -1);
  }
  store(process.state, (u32)stage::ProcessState::kEnded);
  leave_group(t);
  tell_end();
  end_process();
}

void end_of_log(Thread& t, u64 lock) {
  auto& slot = slot_of(t);
  slot.wait_kind = (u32)(lock ? stage::WaitKind::kOrder : stage::WaitKind::kNone);
  slot.wait_for = lock;
  slot.wait_position = t.condition;
  if (t.process->parallel) release_robust_mutexes(t);
  leave_core(slot);
  store(slot.state, (u32)stage::ThreadState::kAtEnd);
  auto& header = g.stage.header();
  add(header.live_threads, -1);
  give_back_turn(t);
  tell_end();
  // The other threads may have more to do; the last one ends the process, unless somebody wants to look at it.
  if (add(t.process->threads, -1) == 1) {
    note_all_dropped(t);
    store(g.stage.process(t.process->number).state, (u32)stage::ProcessState::kEnded);
    if (!(header.flags & stage::kFlagAsPrograms)) end_process();
    tell_end();
  }
  for (;;) sys(__NR_pause);
}

void abandon_wait() {
  Thread& t = current();
  // The director has chosen who is asked where it is.
  u32 asked = g.stage.process(t.process->number).diverged_thread;
  if (!asked) end_process();
  while (asked != t.number) sys(__NR_pause);
  auto& header = g.stage.header();
  add(header.waiting_threads, -1);
  auto& slot = slot_of(t);
  Frame frame{};
  if (slot.wait_kind == (u32)stage::WaitKind::kOrder) find_caller(t, frame, __builtin_frame_address(0));
  diverge(t, Cause::kWait,
          slot.wait_kind == (u32)stage::WaitKind::kChannel ? "waits for bytes that nobody sends, channel"
                                                           : "waits for a turn that does not come, group",
          (i64)slot.wait_for, (i64)slot.wait_position);
}

}  // namespace pastcone::runtime

// How a replayed thread ends other than by the program's own doing: it went another way, or its log is used up.
#include "call.h"
#include "text.h"
#include "turn.h"
#include "waits.h"

namespace pastcone::runtime {
namespace {

/// A thread is gone: somebody may have waited for it.
void tell_end() {
  add(g.stage.header().progress, 1u);
  tell_director();
}

[[noreturn]] void end_process() {
  sys(__NR_exit_group, 0);
  __builtin_unreachable();
}

}  // namespace

void diverge(Thread& t, const char* what, i64 recorded, i64 now, const char* detail) {
  auto& slot = g.stage.process(t.process->number);
  if (swap_if(slot.diverged, 0u, 1u)) {
    Text text(slot.report, sizeof slot.report);
    text << what << ": recorded " << recorded << ", now " << now;
    if (detail) text << " (" << detail << ")";
    slot.diverged_thread = t.number;
    slot.pc = t.frame ? t.frame->rip : 0;
    store(slot.diverged_event, t.log.event_count);
    add(g.stage.header().diverged, 1u);
  }
  store(slot_of(t).state, (u32)stage::ThreadState::kDiverged);
  add(g.stage.header().live_threads, -1);
  tell_end();
  end_process();
}

void end_replayed_thread(Thread& t) {
  auto& slot = slot_of(t);
  slot.event = t.log.event_count;
  store(slot.state, (u32)stage::ThreadState::kEnded);
  give_back_turn(t);
  add(g.stage.header().live_threads, -1);
  tell_end();
}

void end_replayed_process(Thread& t) {
  auto& header = g.stage.header();
  auto& process = g.stage.process(t.process->number);
  for (u32 i = 0; i < process.thread_count; ++i) {
    auto& slot = g.stage.thread(process.first_thread + i);
    u32 state = load(slot.state);
    if (state != (u32)stage::ThreadState::kRunning && state != (u32)stage::ThreadState::kWaiting) continue;
    store(slot.state, (u32)stage::ThreadState::kEnded);
    if (state == (u32)stage::ThreadState::kWaiting) add(header.waiting_threads, -1);
    add(header.live_threads, -1);
  }
  slot_of(t).event = t.log.event_count;
  store(process.state, (u32)stage::ProcessState::kEnded);
  leave_group(t);
  tell_end();
  end_process();
}

void end_of_log(Thread& t) {
  auto& slot = slot_of(t);
  slot.event = t.log.event_count;
  store(slot.state, (u32)stage::ThreadState::kAtEnd);
  give_back_turn(t);
  auto& header = g.stage.header();
  add(header.live_threads, -1);
  tell_end();
  // The other threads may have more to do; the last one ends the process.
  if (add(t.process->threads, -1) == 1) {
    store(g.stage.process(t.process->number).state, (u32)stage::ProcessState::kEnded);
    end_process();
  }
  for (;;) sys(__NR_pause);
}

void abandon_wait(Thread& t) {
  auto& header = g.stage.header();
  add(header.waiting_threads, -1);
  auto& slot = slot_of(t);
  diverge(t, slot.wait_kind == (u32)stage::WaitKind::kChannel ? "waits for bytes that nobody sends, channel"
                                                              : "waits for a turn that does not come, group",
          (i64)slot.wait_for, (i64)slot.wait_position);
}

}  // namespace pastcone::runtime

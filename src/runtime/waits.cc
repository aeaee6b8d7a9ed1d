#include "waits.h"

#include "cores.h"

namespace pastcone::runtime {

stage::ThreadSlot& slot_of(Thread& t) {
  return g.stage.thread(g.stage.process(t.process->number).first_thread + t.number - 1);
}

void tell_director() {
  auto& header = g.stage.header();
  add(header.activity, 1u);
  futex_wake(header.activity);
}

void note_next_event(Thread& t) { store(*t.next_event, t.log.event_count + 1); }

namespace {
/// Another thread may be ending the process, and has said so of all: nothing that is said afterwards counts.
void change_state(Thread& t, stage::ThreadState next) {
  auto& slot = slot_of(t);
  for (;;) {
    u32 state = load(slot.state);
    while (state == (u32)stage::ThreadState::kEnded) sys(__NR_pause);
    if (swap_if(slot.state, state, (u32)next)) return;
  }
}
}  // namespace

void begin_wait(stage::WaitKind kind, u64 target, u64 position) {
  Thread& t = current();
  auto& slot = slot_of(t);
  leave_core(slot);
  slot.wait_kind = (u32)kind;
  slot.wait_for = target;
  slot.wait_position = position;
  change_state(t, stage::ThreadState::kWaiting);
  auto& header = g.stage.header();
  if (add(header.waiting_threads, 1u) + 1 >= load(header.live_threads)) tell_director();
}

void end_wait() {
  Thread& t = current();
  auto& header = g.stage.header();
  change_state(t, stage::ThreadState::kRunning);
  add(header.waiting_threads, -1);
  add(header.progress, 1u);
  if (t.process->parallel) note_core(t);
}

}  // namespace pastcone::runtime

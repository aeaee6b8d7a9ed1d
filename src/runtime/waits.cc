#include "waits.h"

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

void begin_wait(Thread& t, stage::WaitKind kind, u64 target, u64 position) {
  auto& slot = slot_of(t);
  slot.wait_kind = (u32)kind;
  slot.wait_for = target;
  slot.wait_position = position;
  store(slot.state, (u32)stage::ThreadState::kWaiting);
  auto& header = g.stage.header();
  if (add(header.waiting_threads, 1u) + 1 >= load(header.live_threads)) tell_director();
}

void end_wait(Thread& t) {
  auto& header = g.stage.header();
  store(slot_of(t).state, (u32)stage::ThreadState::kRunning);
  add(header.waiting_threads, -1);
  add(header.progress, 1u);
}

}  // namespace pastcone::runtime

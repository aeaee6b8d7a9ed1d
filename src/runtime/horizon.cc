#include "horizon.h"

#include "signals.h"
#include "takeover.h"
#include "turn.h"

namespace pastcone::runtime {
namespace {

void wait_at_horizon(Thread& t, u64 step) {
  auto& slot = slot_of(t);
  note_next_event(t);
  begin_wait(stage::WaitKind::kHorizon, slot.points, step);
  tell_director();  // somebody may want to look at it here, whatever the others do
  for (;;) {
    u32 seen = load(slot.horizon_futex);
    if (may_go_on(t, step)) break;
    if (load(g.stage.header().give_up)) abandon_wait();
    if (load(g.stage.header().held)) show_to_debuggers(true);
    futex_wait(slot.horizon_futex, seen);
  }
  show_to_debuggers(false);
  end_wait();
}

/// For debuggers.
void show_fds(Thread& t) {
  auto& slot = g.stage.process(t.process->number);
  store(slot.descriptors, (u64)t.process->fds.of);
  store(slot.descriptor_count, u64{t.process->fds.size});
}

/// Having left an event.
bool keeps_turn(Thread& t, u64 step) { return step % 2 == 0 && load(slot_of(t).keeps_turn); }

/// `hands_over`: what comes next in the log if others have the turn now.
void park(Thread& t, u64 step, Op hands_over) {
  t.step = step;
  if (!has_horizon()) return;
  store(slot_of(t).step, step);
  show_fds(t);
  if (may_go_on(t, step)) return;
  bool gives_up = t.process->parallel || t.log.at_end() || t.log.peek() == hands_over;
  if (gives_up && !keeps_turn(t, step)) give_back_turn(t);
  wait_at_horizon(t, step);
}

}  // namespace

bool may_go_on(Thread& t, u64 step) {
  auto& slot = slot_of(t);
  u64 horizon = load(slot.horizon);
  return horizon > step || (horizon == step && load(slot.horizon_point) > slot.points);
}

void park_on_entering(Thread& t) {
  if (!g.replay) return;
  u64 left = 2 * t.log.event_count;
  if (t.step < left) park(t, left, Op::kTurnAfter);  // a call may have several events: the program does not run between them
  park(t, left + 1, Op::kTurn);
}

void park_on_leaving(Thread& t) {
  if (!g.replay) return;
  // Others may need what it has, and it is about to give that back. If a signal comes first, it is not.
  bool goes_out = t.forks && (t.log.at_end() || (t.log.peek() != Op::kTurnAfter && !signal_is_next(t)));
  if (!goes_out) park(t, 2 * t.log.event_count, Op::kTurnAfter);
}

void park_with_turn(Thread& t) {
  u64 step = 2 * t.log.event_count;
  if (!has_horizon() || !keeps_turn(t, step) || may_go_on(t, step)) return;
  t.step = step;
  show_fds(t);
  wait_at_horizon(t, step);
}

void pass_point(Thread& t) {
  ++points_of(t);
  if (!has_horizon() || may_go_on(t, t.step)) return;
  bool event_is_done = t.step % 2 == 0;
  // It may still be in the call: who ends gives back memory there. In serial mode nobody who is to come further needs the turn.
  if (event_is_done && t.process->parallel) give_back_turn(t);
  wait_at_horizon(t, t.step);
}

}  // namespace pastcone::runtime

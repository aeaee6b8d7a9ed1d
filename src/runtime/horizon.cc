#include "horizon.h"

#include "takeover.h"
#include "turn.h"
#include "waits.h"

namespace pastcone::runtime {
namespace {

/// `hands_over`: what comes next in the log if others have the turn now.
void park(Thread& t, u64 step, Op hands_over) {
  auto& slot = slot_of(t);
  if (load(slot.horizon) > step) return;
  note_next_event(t);
  if (t.process->parallel || t.log.at_end() || t.log.peek() == hands_over) give_back_turn(t);
  begin_wait(t, stage::WaitKind::kHorizon, 0, step);
  for (;;) {
    u32 seen = load(slot.horizon_futex);
    if (load(slot.horizon) > step) break;
    if (load(g.stage.header().give_up)) abandon_wait(t);
    if (load(g.stage.header().held)) show_to_debuggers(true);
    futex_wait(slot.horizon_futex, seen);
  }
  show_to_debuggers(false);
  end_wait(t);
}

}  // namespace

void park_on_entering(Thread& t) {
  if (has_horizon()) park(t, 2 * t.log.event_count + 1, Op::kTurn);
}

void park_on_leaving(Thread& t) {
  if (has_horizon()) park(t, 2 * t.log.event_count, Op::kTurnAfter);
}

}  // namespace pastcone::runtime

// Turns in replay: taken in the order of their recorded numbers.
#include "call.h"
#include "horizon.h"
#include "index.h"
#include "journal.h"
#include "turn.h"
#include "waits.h"

namespace pastcone::runtime {

namespace {
/// `horizon`, of one that goes no further: the step at which it is; what it waits for need not come.
void take_turn_number(Thread& t, u32 group_number, u64 number, u64 horizon = 0) {
  stage::Group& group = g.stage.group(group_number);
  bool taken = t.process->parallel && t.turn_number == number && t.process->group == group_number;  // on entering the call
  if (taken && t.has_turn) return;
  if (taken) {  // it was parked since, and gave it back meanwhile: the number is its own all the same
    wait_for(group, stage::WaitKind::kTurn, group_number, 0, [&] { return swap_if(group.owner, 0u, t.tid); });
    t.has_turn = true;
    return;
  }
  give_back_turn(t);
  t.process->serial = true;
  if (t.process->group != group_number) {
    t.process->group = group_number;
    add(group.members, 1u);
  }
  u64 before = t.process->parallel ? number - 1 : g.stage.turn_before(group_number, number);
  wait_for(group, horizon ? stage::WaitKind::kHorizon : stage::WaitKind::kTurn, horizon ? points_of(t) : group_number,
           horizon ? horizon : number, [&] { return load(group.number) == before && swap_if(group.owner, 0u, t.tid); });
  store(group.number, number);
  t.turn_number = number;
  t.has_turn = true;
}

/// In parallel mode, behind an event: others wait for it as they do for a lock.
void note_turn_after(Thread& t, u32 group, u64 number) {
  if (has_horizon()) give_back_turn(t);
  pass_point(t);
  index_point(t, stage::FactKind::kTurnAfter, group, number);
}

void take_if_next(Thread& t, Op op) {
  while (t.log.peek() == op) {
    t.log.read_byte();
    u32 group = (u32)t.log.read_varint();
    u64 number = t.log.read_varint();
    if (number) take_turn_number(t, group, number);
    if (number && op == Op::kTurnAfter && t.process->parallel) note_turn_after(t, group, number);
    if (op == Op::kTurn) t.has_number = true;
    else if (!number && t.log.at_end()) end_of_log(t);  // it gave the turn up, and never got it again
  }
}

/// The thread gets a turn next that is not the last one of this step: it gave it up again and did nothing with it.
bool turn_passes(Thread& t, Op op) {
  Log& log = t.log;
  u64 at = log.events.at;
  u32 turns = 0;
  while (log.peek() == op) {
    log.read_byte();
    log.read_varint();
    if (log.read_varint()) ++turns;
  }
  bool passes = turns > (op == Op::kTurn && log.at_end() ? 0 : 1);
  log.events.at = at;
  return passes;
}

/// Others wait until such a turn is over, also if we are not let out of this step.
void pass_turns(Thread& t, Op op, u64 step) {
  if (!has_horizon() || t.process->parallel) return;
  while (turn_passes(t, op)) {
    t.log.read_byte();
    u32 group = (u32)t.log.read_varint();
    u64 number = t.log.read_varint();
    if (!number) continue;
    note_next_event(t);
    take_turn_number(t, group, number, may_go_on(t, step) ? 0 : step);
    give_back_turn(t);
  }
}

/// Replay: the number of the next event, if it is that of this call, or of any; else 0.
constexpr u64 kAnyCall = ~u64{0};
u64 number_of(Thread& t, u64 call) {
  Log& log = t.log;
  u64 at = log.events.at, number = 0;
  for (bool more = true; more;) {
    Op op = log.peek();
    log.read_byte();
    switch (op) {
      case Op::kOutput: log.read_byte(); [[fallthrough]];
      case Op::kOrder: log.read_varint(); [[fallthrough]];
      case Op::kOffset: case Op::kFile: log.read_varint();
        if (op == Op::kFile) log.read_varint();
        break;
      case Op::kTurn:
        log.read_varint();
        number = log.read_varint();
        more = false;
        break;
      default: {
        more = false;
        u32 code = (u32)op - (u32)Op::kFirstCall;
        bool frequent = op >= Op::kFirstCall && code < format::kFrequentCount;
        u64 next = op == Op::kCall ? log.read_varint() : frequent ? (u64)format::kFrequent[code].number : kAnyCall;
        if (next != kAnyCall && (call == next || call == kAnyCall)) number = t.turn_number + 1;
      }
    }
  }
  log.events.at = at;
  return number;
}
}  // namespace

void enter_call(Call& c) {
  Thread& t = c.t;
  if (!t.process->parallel || !t.process->serial) return;
  t.in_call = true;
  if (!g.replay) return lock_calls(t);
  park_on_entering(t);
  stage::Group& group = group_of(t);
  u64 number = number_of(t, c.number);
  t.has_number = number;
  if (number) return take_turn_number(t, t.process->group, number);
  wait_for(group, stage::WaitKind::kTurn, t.process->group, 0, [&] { return swap_if(group.owner, 0u, t.tid); });
  t.has_turn = true;
}

void take_event_number(Thread& t) {
  if (t.in_call && !t.has_number) take_turn_number(t, t.process->group, t.turn_number + 1);
  t.has_number = false;
}

void await_next_event(Thread& t) {
  u64 number = t.log.at_end() ? 0 : number_of(t, kAnyCall);
  if (!number) return;
  park_on_entering(t);
  stage::Group& group = group_of(t);
  wait_for(group, stage::WaitKind::kTurn, t.process->group, number, [&] { return load(group.number) + 1 >= number; });
}

void leave_call(Thread& t) {
  if (!t.process->parallel) return;
  t.in_call = false;
  give_back_turn(t);
}

void take_recorded_turn(Thread& t) {
  spoil_journal(t);
  pass_turns(t, Op::kTurn, 2 * t.log.event_count + 1);
  park_on_entering(t);
  take_if_next(t, Op::kTurn);
}

void take_recorded_turn_after(Thread& t) {
  park_with_turn(t);
  pass_turns(t, Op::kTurnAfter, 2 * t.log.event_count);
  park_on_leaving(t);
  if (!t.process->parallel) note_next_event(t);  // what it waits for comes after it
  take_if_next(t, Op::kTurnAfter);
}

}  // namespace pastcone::runtime

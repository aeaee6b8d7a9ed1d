#include "turn.h"

#include "call.h"
#include "waits.h"

namespace pastcone::runtime {

stage::Group& group_of(Thread& t) { return g.stage.group(t.process->group); }

namespace {

/// How long a thread may keep the turn while others wait, in ticks of the time stamp counter: about two milliseconds.
constexpr u64 kSlice = 5'000'000;

void write_turn(Thread& t, u64 number, bool after) {
  Log& log = t.log;
  log.begin();
  log.byte((u8)(after ? Op::kTurnAfter : Op::kTurn));
  log.varint(t.process->group);
  log.varint(number);
  log.commit();
}

/// Waits a while for the turn of a group, or of the one that it has become part of; whether it has got it.
bool try_turn(Thread& t, u32& number) {
  stage::Group& group = g.stage.group(number);
  if (u32 merged = load(group.merged)) {
    number = merged - 1;
    return false;
  }
  if (swap_if(group.owner, 0u, t.tid)) {
    bool ending = load(t.process->ending);
    if (!load(group.merged) && !ending) return true;
    store(group.owner, 0u);
    if (ending) futex_wake(group.owner, 1);  // perhaps it was for us
    while (ending) sys(__NR_pause);
    return false;
  }
  u32 owner = load(group.owner);
  if (!owner) return false;
  add(group.waiters, 1);
  Timespec wait{0, 10'000'000};
  long result = futex_wait(group.owner, owner, &wait);
  add(group.waiters, -1);
  if (result != -ETIMEDOUT || load(group.owner) != owner) return false;
  // A holder that was killed cannot give it back; one that computes without calls must be interrupted.
  if (is_gone(owner)) swap_if(group.owner, owner, 0u);
  else interrupt_holder(owner);
  return false;
}

/// It has got the turn of its group; true if somebody else had it since.
bool begin_turn(Thread& t) {
  stage::Group& group = group_of(t);
  t.has_turn = true;
  t.slice_start = ticks();
  if (group.last == t.tid) return false;
  group.last = t.tid;
  if (t.log.off) return false;  // nobody will see this change of hands again
  ++group.number;
  return true;
}

/// The same, having waited for it.
bool get_turn(Thread& t) {
  while (!try_turn(t, t.process->group)) {}
  return begin_turn(t);
}

/// Lets somebody else have it who waits, if anybody does.
void lend_turn(Thread& t) {
  stage::Group& group = group_of(t);
  u64 number = group.number;
  release_turn(t);
  for (int i = 0; i < 1000 && load(group.number) == number && load(group.waiters); ++i) sys(__NR_sched_yield);
  acquire_turn(t);
}

}  // namespace

/// The turn is a lock then, and nobody computes while he has it.
void lock_calls(Thread& t) {
  stage::Group& group = group_of(t);
  for (int spins = 0; !swap_if(group.owner, 0u, t.tid); ++spins) {
    u32 owner = load(group.owner);
    if (!owner) continue;
    if (spins < 100) {
      __builtin_ia32_pause();
      continue;
    }
    add(group.waiters, 1);
    Timespec wait{0, 50'000'000};
    long result = futex_wait(group.owner, owner, &wait);
    add(group.waiters, -1);
    if (result == -ETIMEDOUT && load(group.owner) == owner && is_gone(owner)) swap_if(group.owner, owner, 0u);
  }
  t.has_turn = true;
}

void number_event(Thread& t, bool always) {
  if (!t.in_call || t.log.off) return;
  u64 number = ++group_of(t).number;
  if (always || number != t.turn_number + 1) write_turn(t, number, false);
  t.turn_number = number;
}

void become_serial(Process& p) {
  if (p.serial) return;
  p.serial = true;
  p.group = p.number;
  stage::Group& group = g.stage.group(p.group);
  Thread& t = current();
  group.owner = t.tid;
  group.last = t.tid;
  group.number = 1;
  add(group.members, 1u);
  t.has_turn = true;
  t.turn_number = 1;
  t.slice_start = ticks();
  if (g.replay) publish(group);  // who joins this group later may already wait for it
}

void join_group(Thread& t, u32 number) {
  Process& p = *t.process;
  if (!p.serial) {
    add(g.stage.group(number).members, 1u);
    p.serial = true;
    p.group = number;
    return acquire_turn(t);
  }
  // Everybody who waits for our turn has to wait for the other one from now on, and has it behind us: so we have both when that is
  // said. Others may do the same the other way round; of two who wait for each other the one in the lower group gives way.
  while (number != p.group && !try_turn(t, number))
    if (number > p.group) lend_turn(t);
  if (number == p.group) return;
  stage::Group &old = group_of(t), &joined = g.stage.group(number);
  add(joined.members, 1u);
  add(joined.pi_waiters, load(old.pi_waiters));
  p.group = number;
  if (begin_turn(t)) write_turn(t, joined.number, t.head_written);
  store(old.merged, number + 1);
  store(old.owner, 0u);
  futex_wake(old.owner);
}

void leave_group(Thread& t) {
  Process& p = *t.process;
  if (!p.serial || !t.has_turn) return;
  stage::Group& group = group_of(t);
  // Alone, our other threads must not run on while the process ends; else somebody may want it, now or later.
  add(group.members, -1);
  store(p.ending, true);
  if (p.shares) give_back_turn(t);
}

void release_turn(Thread& t) {
  if (!t.process->serial || !t.has_turn) return;
  t.has_turn = false;
  stage::Group& group = group_of(t);
  __atomic_exchange_n(&group.owner, 0u, __ATOMIC_SEQ_CST);  // before we look who waits
  if (load(group.waiters)) futex_wake(group.owner, 1);
}

void acquire_turn(Thread& t) {
  if (!t.process->serial) return;
  if (t.process->parallel) {
    lock_calls(t);
    if (t.head_written) write_turn(t, t.turn_number = ++group_of(t).number, true);
    return;
  }
  if (get_turn(t)) write_turn(t, group_of(t).number, t.head_written);
}

TurnPause::TurnPause(Thread& t) : t_(t) { release_turn(t); }
TurnPause::~TurnPause() { acquire_turn(t_); }

void give_up_turn(Thread& t) {
  write_turn(t, 0, true);
  release_turn(t);
}

namespace {
constexpr u32 kMostLost = 2;

/// Said also if nobody had it in between: else this thread would not have run since it gave it up.
void take_back_turn(Thread& t) {
  if (!get_turn(t) && !t.log.off) ++group_of(t).number;
  write_turn(t, group_of(t).number, true);
}

/// Until a thread that was starved has the turn.
void hand_over(Thread& t, u64 futex) {
  stage::Group& group = group_of(t);
  u32 seen = load(group.futex);  // before it can have the turn: afterwards it may wait there again
  give_up_turn(t);
  const Timespec wait{0, 50'000'000};
  while (load(group.futex) == seen && load(group.starved) == futex)
    if (futex_wait(group.futex, seen, &wait) == -ETIMEDOUT) swap_if(group.starved, futex, u64{0});
  take_back_turn(t);
}
}  // namespace

void begin_futex(Thread& t, u64 futex) {
  // Who has done something in between was not woken for nothing.
  bool again = t.woken_at == futex && t.woken_event == t.log.event_count && ticks() - t.slice_start < kSlice;
  t.lost = again ? t.lost + 1 : 0;
  if (t.lost >= kMostLost) store(group_of(t).starved, futex);
}

void end_futex(Thread& t, u64 futex, long result) {
  t.woken_at = result && result != -EAGAIN ? 0 : futex;
  t.woken_event = t.log.event_count;
  end_hand_over(t, futex);  // though it may be another one that is starved: the kernel has chosen
}

void woke_futex(Thread& t, u64 futex) {
  if (load(group_of(t).starved) == futex) t.hands_over = futex;
}

void begin_hand_over(Thread& t, u64 futex) {
  store(group_of(t).starved, futex);
  t.hands_over = futex;
}

void end_hand_over(Thread& t, u64 futex) {
  stage::Group& group = group_of(t);
  if (load(group.starved) != futex || !swap_if(group.starved, futex, u64{0})) return;
  add(group.futex, 1u);
  futex_wake(group.futex);
}

void end_slice(Thread& t) {
  if (!t.process->serial || t.process->parallel) return;
  if (u64 futex = t.hands_over) {
    t.hands_over = 0;
    return hand_over(t, futex);
  }
  stage::Group& group = group_of(t);
  if (!load(group.waiters)) return;
  if (!t.yields && ticks() - t.slice_start < kSlice) return;
  t.yields = false;
  u64 number = group.number;
  give_up_turn(t);
  // Let one of them have it before we ask again.
  for (int i = 0; i < 1000 && load(group.number) == number && load(group.waiters); ++i) sys(__NR_sched_yield);
  take_back_turn(t);
}

void give_back_turn(Thread& t) {
  if (!t.has_turn) return;
  if (!g.replay) {
    release_turn(t);
    return;
  }
  t.has_turn = false;
  stage::Group& group = group_of(t);
  store(group.owner, 0u);
  publish(group);
}

}  // namespace pastcone::runtime

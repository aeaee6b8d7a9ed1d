// What is done once, by whoever comes first; and again by another, if it was left by an exception. Who runs it has an entry, and an
// access of the object in order.
#include "hooks.h"
#include "objects.h"
#include "unwinding.h"

namespace pastcone::runtime {
namespace {

constexpr u32 kOnceDone = 2;

/// Of a thread that is inside one.
struct Routine : Guard {
  u32* once;
  void (*routine)();
  Routine* outer_routine;
};

void note_run(Thread& t, u64 address) {
  note_acquired(t, table_state(address), address, false, (long)address);
}

/// Replay: this thread's turn to run it; those before have left it.
void begin_run(Thread& t, u64 address) {
  TableState& s = table_state(address);
  Due due = next_operation(t, address);
  refresh(t, s, false);
  if (!due.ordered && s.last != t.me) diverge_owner(t, address, s.last);
  u64 wanted = due.ordered ? due.version : s.version;
  await(s, address, false, wanted, [&] {
    u64 now = load(s.version);
    if ((i64)(now - wanted) > 0) diverge_order(t, address, "it was begun more often", (i64)wanted, (i64)now);
    return now == wanted && !(load(s.held) && load(s.holder) >> 16 == t.me >> 16);
  });
  s.holder = t.me;
  store(s.held, 1u);
  s.last = t.me;
  if (is_indexed()) index_access(t, address, false, s.version);
  store(s.version, s.version + 1);
  count_operation(t);
  pass_point(t);
}

void end_run(u64 address) {
  TableState& s = table_state(address);
  index_release(current(), stage::ObjectKind::kOnce, address, false);
  s.holder = 0;
  __atomic_exchange_n(&s.held, 0u, __ATOMIC_SEQ_CST);
  announce(s, address, false);
  pass_point(current());
}

/// Replay: others go on when it is done. `once`: what it is called.
template <typename Word>
void await_done(Thread& t, Word& word, Word done, u64 once) {
  TableState& s = table_state(once);
  await(s, once, false, 0, [&] { return (load(word) & done) != 0; });
  u64& known = t.known_once[(once >> 2 ^ once >> 8) % (sizeof t.known_once / sizeof t.known_once[0])];
  if (known == once) return;
  known = once;
  if (is_indexed()) index_access(t, once, false, load(s.version), load(s.version), false);
  index_release(t, stage::ObjectKind::kOnce, once, false);
  pass_point(t);
}

/// Replay: compiled code looks at the first byte of a guard, and comes here only if that is 0. Where it is to be known who depends on
/// whom it stays 0, so that all come, and the last byte says that it is done.
u8& done_byte(u8* guard) { return is_indexed() || has_horizon() ? guard[7] : guard[0]; }

void leave(Guard& guard) {
  auto& routine = (Routine&)guard;
  current().once = routine.outer_routine;
  if (g.replay) end_run((u64)routine.once);
}

/// The library's function does it in both modes, so that the program's is called with the same stack. Who runs it is found out by
/// running something else.
void go_in(Guard& guard) {
  call_original(Hook::pthread_once, ((Routine&)guard).once, (void (*)())[] {
    Thread& me = current();
    auto& routine = *(Routine*)me.once;
    if (!g.replay) note_run(me, (u64)routine.once);
    routine.routine();
  });
}

}  // namespace

extern "C" {

int hook_pthread_once(u32* once, void (*routine)()) {
  Thread& t = current();
  if (load(*once) & kOnceDone && !(g.replay && is_ordered(t, false))) return 0;
  note_use(t, stage::ObjectKind::kOnce);
  if (!is_ordered(t, false)) {
    int result = call_original(Hook::pthread_once, once, routine);
    if (g.replay) announce(table_state((u64)once), (u64)once, false);  // there may be others by now
    return result;
  }
  if (g.replay && !ran_here(t, (u64)once)) {
    await_done(t, *once, kOnceDone, (u64)once);
    return 0;
  }
  if (g.replay) {
    begin_run(t, (u64)once);
    store(*once, 0u);  // in the child of a fork, a thread of its parent may have been inside
  }
  Routine mine{{go_in, leave}, once, routine, (Routine*)t.once};
  t.once = &mine;
  call_guarded(t, mine);
  leave(mine);
  return 0;
}

/// Of C++: for variables that are local and static. Compiled code looks itself whether it has been done.
int hook___cxa_guard_acquire(u8* guard) {
  Thread& t = current();
  note_use(t, stage::ObjectKind::kOnce);
  if (!is_ordered(t, false)) return call_original(Hook::__cxa_guard_acquire, guard);
  if (load(*guard)) return 0;
  if (!g.replay) {
    int result = call_original(Hook::__cxa_guard_acquire, guard);
    if (result) note_run(t, (u64)guard);
    return result;
  }
  if (ran_here(t, (u64)guard)) {
    begin_run(t, (u64)guard);
    return 1;
  }
  await_done(t, done_byte(guard), (u8)1, (u64)guard);
  return 0;
}
void hook___cxa_guard_release(u8* guard) {
  if (!g.replay || !is_ordered(current(), false)) return call_original<void>(Hook::__cxa_guard_release, guard);
  __atomic_exchange_n(&done_byte(guard), (u8)1, __ATOMIC_SEQ_CST);
  end_run((u64)guard);
}
void hook___cxa_guard_abort(u8* guard) {
  if (!g.replay || !is_ordered(current(), false)) return call_original<void>(Hook::__cxa_guard_abort, guard);
  end_run((u64)guard);
}

}  // extern "C"
}  // namespace pastcone::runtime

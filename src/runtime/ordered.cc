#include "ordered.h"

namespace pastcone::runtime {

/// In the child of a fork nobody has what a thread of its parent had.
void OrderedLock::forget_parents(Thread& t) {
  u32 holder = load(state_.holder);
  if (holder && (holder ^ t.me) >> 16) swap_if(state_.holder, holder, 0u);
}

bool OrderedLock::claim(Thread& t) {
  forget_parents(t);
  return swap_if(state_.holder, 0u, t.me);
}

void OrderedLock::wait_until_free(Thread& t) {
  for (int i = 0; i < 100; ++i) {
    if (claim(t)) return;
    __builtin_ia32_pause();
  }
  add(state_.waiters, 1u);
  for (;;) {
    u32 holder = load(state_.holder);
    if (claim(t)) break;
    if (holder) futex_wait(state_.holder, holder);
  }
  add(state_.waiters, -1);
}

void OrderedLock::replay(Thread& t, const Due& due) {
  forget_parents(t);
  t.object_kind = stage::ObjectKind::kLibrary;
  take_in_order(t, state_, address_, false, due, state_.holder, t.me);
  state_.held = 1;
  pass_point(t);
}

void OrderedLock::take(Thread& t) {
  if (depth(t)) {
    ++state_.held;
    return;
  }
  if (g.replay) {
    Due due = next_operation(t, address_);
    if (!due.acquires()) diverge_order(t, address_, "it was not to be had when recorded", due.result, 0);
    return replay(t, due);
  }
  if (!claim(t)) wait_until_free(t);
  state_.held = 1;
  note_acquired(t, state_, address_, false);
}

bool OrderedLock::try_take(Thread& t, bool (*attempt)(u64 address)) {
  if (depth(t)) {
    ++state_.held;
    return true;
  }
  if (g.replay) {
    Due due = next_operation(t, address_);
    if (due.acquires()) replay(t, due);
    else count_operation(t);
    return due.acquires();
  }
  bool claimed = claim(t);
  if (!claimed || (attempt && !attempt(address_))) {
    if (claimed) release();
    note_result(t, 1);
    return false;
  }
  state_.held = 1;
  note_acquired(t, state_, address_, false);
  return true;
}

void OrderedLock::give_back(Thread& t) {
  if (depth(t) && !--state_.held) release();
}

void OrderedLock::release() {
  index_release(current(), stage::ObjectKind::kLibrary, address_, false);
  __atomic_exchange_n(&state_.holder, 0u, __ATOMIC_SEQ_CST);
  if (!g.replay) {
    if (load(state_.waiters)) futex_wake(state_.holder, 1);
    return;
  }
  announce_release(state_, address_, false);
  pass_point(current());
}

long repeat(Thread& t, long value, long expected) {
  if (!g.replay) {
    if (value == expected) count_operation(t);
    else note_result(t, value);
    return value;
  }
  Due due = next_operation(t, 0);
  if (!due.predicted && due.kind != EntryKind::kResult) diverge_order(t, 0, "a lock was taken here", (i64)due.version, 0);
  count_operation(t);
  return due.predicted ? expected : due.result;
}

}  // namespace pastcone::runtime

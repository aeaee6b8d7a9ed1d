// Semaphores, barriers, spinlocks, and what is done once.
#include "hooks.h"
#include "objects.h"

namespace pastcone::runtime {
namespace {

// --- semaphores ----------------------------------------------------------------------------------------------------------------

/// As glibc lays it out; the rest is ours.
struct Semaphore {
  u64 data;     ///< value, and above it how many wait
  i32 is_private;
  i32 filler;
  u64 access;   ///< version << 32 | who had it last: changed together
  u32 filler2;
  u32 waiters;

  bool shared() const { return is_private; }  // 128 if it is shared, by glibc's odd use of the word
  u64 address() const { return (u64)this; }
  ObjectState& state() { return *(ObjectState*)&access; }
};
static_assert(sizeof(Semaphore) == 32);

u64 version_of(u64 access) { return access >> 32; }
u32 last_of(u64 access) { return (u32)access; }

/// The word is as another process has left it: one whose fork we are, or a semaphore that was here before.
bool is_left_over(Thread& t, const Semaphore& s, u64 access) {
  return last_of(access) && (last_of(access) ^ t.me) >> 16 && !s.shared();
}

/// Record: posts and successful waits are in one order. A post is noted before it happens, a wait afterwards, so that there are
/// never more waits than posts.
void note_access(Thread& t, Semaphore& s) {
  u64 found, access;
  do {
    found = load(s.access);
    access = is_left_over(t, s, found) ? 0 : found;
  } while (!swap_if(s.access, found, (version_of(access) + 1) << 32 | t.me));
  if (last_of(access) != t.me) write_entry(t, EntryKind::kAcquired, s.address(), version_of(access), 0);
  count_operation(t);
}

/// Replay of either. True: it succeeds; else `result`.
bool replay_access(Thread& t, Semaphore& s, long& result) {
  Due due = next_operation(t, s.address());
  result = due.result;
  if (!due.acquires()) {
    count_operation(t);
    return false;
  }
  if (u64 found = load(s.access); is_left_over(t, s, found)) swap_if(s.access, found, u64{0});
  if (!due.ordered && last_of(s.access) != t.me)
    diverge_owner(t, s.address(), last_of(s.access));
  u64 wanted = due.ordered ? due.version & 0xffffffff : version_of(s.access);
  await(t, s.state(), s.address(), s.shared(), wanted, [&] {
    u64 now = version_of(load(s.access));
    if ((i32)(u32)(now - wanted) > 0)
      diverge_order(t, s.address(), "the semaphore was used more often", (i64)wanted, (i64)now);
    return now == wanted;
  });
  if (is_indexed()) index_access(t, s.address(), s.shared(), wanted);
  __atomic_exchange_n(&s.access, (wanted + 1) << 32 | t.me, __ATOMIC_SEQ_CST);
  count_operation(t);
  announce(s.state(), s.address(), s.shared());
  return true;
}

bool take_at_once(Semaphore& s) {
  for (;;) {
    u64 data = load(s.data);
    if (!(u32)data) return false;
    if (swap_if(s.data, data, data - 1)) return true;
  }
}

int fail_with(int error) {
  program_errno() = error;
  return -1;
}

/// `otherwise`: what is done if it is 0.
template <typename Otherwise>
[[gnu::always_inline]] inline int take(Semaphore* s, Otherwise otherwise) {
  Thread& t = current();
  note_use(t, stage::ObjectKind::kSemaphore);
  bool ordered = is_ordered(t, s->shared());
  if (g.replay && ordered) {
    long error;
    return replay_access(t, *s, error) ? 0 : fail_with((int)error);
  }
  int result = take_at_once(*s) ? 0 : otherwise();
  if (!ordered) return result;
  if (result) note_result(t, program_errno());
  else note_access(t, *s);
  return result;
}

template <typename... Arguments>
[[gnu::always_inline]] inline int wait(Hook hook, Semaphore* s, Arguments... arguments) {
  return take(s, [=] { return call_original(hook, s, arguments...); });
}

const Timespec kNever{(i64)1 << 60, 0};

// --- barriers ------------------------------------------------------------------------------------------------------------------

struct Barrier {
  u32 in, round, count;
  i32 is_shared;
  u32 out;
  u32 arrived;  ///< replay: how many came, ever
  u32 filler;
  u32 waiters;

  u64 address() const { return (u64)this; }
  ObjectState& state() { return *(ObjectState*)&out; }
};
static_assert(sizeof(Barrier) == 32 && offsetof(Barrier, waiters) == offsetof(Barrier, out) + offsetof(ObjectState, waiters));

int replay_barrier(Thread& t, Barrier& b) {
  Due due = next_operation(t, b.address());
  u32 mine = add(b.arrived, 1u), until = (mine / b.count + 1) * b.count;
  announce(b.state(), b.address(), b.is_shared);
  await(t, b.state(), b.address(), b.is_shared, until, [&] { return (i32)(load(b.arrived) - until) >= 0; });
  count_operation(t);
  return due.predicted ? 0 : (int)due.result;
}

// --- spinlocks -----------------------------------------------------------------------------------------------------------------

constexpr int kSpinFree = 1, kSpinHeld = 0;

/// As glibc does it, whose functions cannot be wrapped: one loops to its own start, another is the same as pthread_spin_init.
int spin_natively(int* lock, bool waits) {
  while (!swap_if(*lock, kSpinFree, kSpinHeld)) {
    if (!waits) return kBusyResult;
    while (load(*lock) <= 0) __builtin_ia32_pause();
  }
  return 0;
}

[[gnu::always_inline]] inline int spin(int* lock, bool waits) {
  Thread& t = current();
  note_use(t, stage::ObjectKind::kSpinLock);
  if (!is_ordered(t, false)) return spin_natively(lock, waits);
  TableState& s = table_state((u64)lock);
  if (!g.replay) {
    int result = spin_natively(lock, waits);
    if (result) note_result(t, result);
    else note_acquired(t, s, (u64)lock, false);
    return result;
  }
  Due due = next_operation(t, (u64)lock);
  if (!due.acquires()) {
    count_operation(t);
    return (int)due.result;
  }
  take_in_order(t, s, (u64)lock, false, due, s.held);
  return 0;
}

// --- once ----------------------------------------------------------------------------------------------------------------------

constexpr u32 kOnceRuns = 1, kOnceDone = 2;

struct Routine {
  void (*run)();
  bool ran;
};

}  // namespace

extern "C" {

int hook_sem_init(Semaphore* s, int shared, u32 value) {
  int result = call_original(Hook::sem_init, s, shared, value);
  if (!result) s->access = s->waiters = 0;
  return result;
}
int hook_sem_destroy(Semaphore* s) {
  s->access = 0;
  return 0;
}

int hook_sem_post(Semaphore* s) {
  Thread& t = current();
  note_use(t, stage::ObjectKind::kSemaphore);
  if (is_ordered(t, s->shared())) {
    long result;
    if (g.replay) return replay_access(t, *s, result) ? 0 : fail_with((int)result);
    note_access(t, *s);
  }
  return call_original(Hook::sem_post, s);
}

int hook_sem_wait(Semaphore* s) { return wait(Hook::sem_clockwait, s, 1, &kNever); }
int hook_sem_timedwait(Semaphore* s, void* until) { return wait(Hook::sem_timedwait, s, until); }
int hook_sem_clockwait(Semaphore* s, int clock, void* until) { return wait(Hook::sem_clockwait, s, clock, until); }

int hook_sem_trywait(Semaphore* s) {
  return take(s, [] { return fail_with(EAGAIN); });
}

int hook_sem_getvalue(Semaphore* s, int* value) {
  Thread& t = current();
  if (!is_ordered(t, s->shared())) return call_original(Hook::sem_getvalue, s, value);
  if (g.replay) {
    Due due = next_operation(t, s->address());
    count_operation(t);
    *value = due.predicted ? 0 : (int)due.result;
    return 0;
  }
  int result = call_original(Hook::sem_getvalue, s, value);
  note_result(t, *value);
  return result;
}

int hook_pthread_barrier_init(Barrier* b, void* attributes, u32 count) {
  int result = call_original(Hook::pthread_barrier_init, b, attributes, count);
  if (!result) b->arrived = b->waiters = 0;
  return result;
}
int hook_pthread_barrier_destroy(Barrier* b) {
  if (g.replay && is_ordered(current(), b->is_shared)) return 0;
  return call_original(Hook::pthread_barrier_destroy, b);
}
int hook_pthread_barrier_wait(Barrier* b) {
  Thread& t = current();
  if (!is_ordered(t, b->is_shared)) return call_original(Hook::pthread_barrier_wait, b);
  if (g.replay) return replay_barrier(t, *b);
  int result = call_original(Hook::pthread_barrier_wait, b);
  if (result) note_result(t, result);
  else count_operation(t);
  return result;
}

int hook_pthread_spin_lock(int* lock) { return spin(lock, true); }
int hook_pthread_spin_trylock(int* lock) { return spin(lock, false); }
/// Or the lock begins to exist.
int hook_pthread_spin_unlock(int* lock) {
  __atomic_exchange_n(lock, kSpinFree, __ATOMIC_SEQ_CST);
  if (!g.replay || !is_ordered(current(), false)) return 0;
  TableState& s = table_state((u64)lock);
  __atomic_exchange_n(&s.held, 0u, __ATOMIC_SEQ_CST);
  announce_release(s, (u64)lock, false);
  return 0;
}

int hook_pthread_once(u32* once, void (*routine)()) {
  Thread& t = current();
  if (!is_ordered(t, false)) return call_original(Hook::pthread_once, once, routine);
  if (load(*once) & kOnceDone) return 0;
  if (!g.replay) {
    // Who runs it is found out by running something else.
    Routine mine{routine, false};
    Routine* outer = (Routine*)t.once;
    t.once = &mine;
    int result = call_original(Hook::pthread_once, once, (void (*)())[] {
      auto& r = *(Routine*)current().once;
      r.ran = true;
      write_entry(current(), EntryKind::kRan, 0, 0, 0);
      r.run();
    });
    t.once = outer;
    return result;
  }
  TableState& s = table_state((u64)once);
  if (ran_here(t)) {
    store(*once, kOnceRuns);
    routine();
    __atomic_exchange_n(once, kOnceDone, __ATOMIC_SEQ_CST);
    announce(s, (u64)once, false);
  } else {
    await(t, s, (u64)once, false, 0, [&] { return (load(*once) & kOnceDone) != 0; });
  }
  return 0;
}

/// Of C++: for variables that are local and static. Compiled code looks itself whether it has been done.
int hook___cxa_guard_acquire(u8* guard) {
  Thread& t = current();
  if (!is_ordered(t, false)) return call_original(Hook::__cxa_guard_acquire, guard);
  if (load(*guard)) return 0;
  if (!g.replay) {
    int result = call_original(Hook::__cxa_guard_acquire, guard);
    if (result) write_entry(t, EntryKind::kRan, 0, 0, 0);
    return result;
  }
  if (ran_here(t)) return 1;
  await(t, table_state((u64)guard), (u64)guard, false, 0, [&] { return load(*guard) != 0; });
  return 0;
}
void hook___cxa_guard_release(u8* guard) {
  if (!g.replay || !is_ordered(current(), false)) return call_original<void>(Hook::__cxa_guard_release, guard);
  __atomic_exchange_n(guard, (u8)1, __ATOMIC_SEQ_CST);
  announce(table_state((u64)guard), (u64)guard, false);
}
void hook___cxa_guard_abort(u8* guard) {
  if (!g.replay || !is_ordered(current(), false)) call_original<void>(Hook::__cxa_guard_abort, guard);
}

}  // extern "C"
}  // namespace pastcone::runtime

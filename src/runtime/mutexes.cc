#include "mutexes.h"

#include "hooks.h"

namespace pastcone::runtime {

namespace {

/// The owner of a robust one may be no more. In replay it is known by its place, else by what the kernel looks at, too.
bool is_mine(Thread& t, const Mutex& m) {
  constexpr u32 kOwner = 0x3fffffff;
  if (!m.robust()) return m.owner == (i32)t.tid;
  return g.replay ? load(m.place().state.holder) == t.me : ((u32)load(m.lock) & kOwner) == t.tid;
}

/// The thread has it already: an answer that needs no order; 0: it has not.
bool again(Thread& t, Mutex& m, int& result) {
  if (!is_mine(t, m) || (m.type() != Mutex::kRecursive && m.type() != Mutex::kErrorCheck)) return false;
  result = m.type() == Mutex::kErrorCheck ? kDeadlock : 0;
  return true;
}

/// Record: what an attempt by glibc's function came to.
int note(Thread& t, Mutex& m, int result) {
  if (result && result != kOwnerDead) note_result(t, result);
  else if (result) note_acquired(t, state_of(m), m.address(), m.between_processes(), result);
  else note_acquired(t, state_of(m), m.address(), m.between_processes());
  return result;
}

bool take_free(Mutex& m) { return !load(m.lock) && swap_if(m.lock, 0, 1); }

/// Record: the usual case without glibc.
bool take_plain(Thread& t, Mutex& m) {
  if (!m.plain() || !take_free(m)) return false;
  m.owner = (i32)t.tid;
  ++m.users;
  note_acquired(t, m.state, m.address(), m.between_processes());
  return true;
}

/// Waits for one that somebody has, in the hope that it need not sleep: to sleep and be woken takes longer for both. A thread that has
/// much to do between two locks shall have it soon; so have others, and it is free most of the time. Else it is left alone, to the core of
/// who has it, for as long as this thread needs for many operations, but a microsecond or two at most.
bool back_off(Thread& t, Mutex& m) {
  constexpr u64 kMany = 64, kMost = 4000, kSparse = 110, kEnough = 8;
  auto& pace = t.pace;
  u64 from = __builtin_ia32_rdtsc(), done = *t.operations - pace.operation;
  if (done >= kEnough) {
    u64 ticks = (from - pace.since) / done;  // now and then far too many: it did not run all the time
    pace.ticks = pace.ticks ? min(ticks, pace.ticks + pace.ticks / 8 + 1) : ticks;
  }
  if (pace.ticks >= kSparse) {
    while (__builtin_ia32_rdtsc() - from < min(4 * pace.ticks, kMost)) {
      __builtin_ia32_pause();
      if (take_free(m)) return true;
    }
  }
  for (int tries = 0; tries < 2; ++tries) {
    for (from = __builtin_ia32_rdtsc(); __builtin_ia32_rdtsc() - from < min(kMany * pace.ticks, kMost);) __builtin_ia32_pause();
    if (take_free(m)) return true;
  }
  return false;
}

/// Record: one that somebody has, without glibc, which would look at it once more before it sleeps, and so take it from the core of who
/// has it; for an adaptive one it asks the processor's clock for how long to spin, which replay does not.
void take_waiting(Thread& t, Mutex& m) {
  if (!back_off(t, m)) {
    int& error = program_errno();
    int before = error;
    while (__atomic_exchange_n(&m.lock, 2, __ATOMIC_SEQ_CST))
      call_original<long>(Hook::syscall, (long)__NR_futex, &m.lock, m.shared() ? 0 : kFutexPrivate, 2, nullptr);
    error = before;
  }
  t.pace.operation = *t.operations;
  t.pace.since = __builtin_ia32_rdtsc();
  m.owner = (i32)t.tid;
  ++m.users;
  note_acquired(t, m.state, m.address(), m.between_processes());
}

template <typename... Arguments>
[[gnu::always_inline]] inline int lock(Hook hook, Mutex* m, Arguments... arguments) {
  Thread& t = current();
  note_use(t, stage::ObjectKind::kMutex);
  if (!is_ordered(t, m->shared())) return call_original(hook, m, arguments...);
  int result = 0;
  bool mine = again(t, *m, result);
  if (g.replay) {
    if (!mine) return replay_lock(t, *m, next_operation(t, m->address()));
    if (!result) ++m->count;
    return result;
  }
  if (mine) return call_original(hook, m, arguments...);
  look_for_signals(t);
  if (take_plain(t, *m)) return 0;
  if constexpr (sizeof...(Arguments) == 0)
    if (m->plain() || (m->kind & Mutex::kAnyKind) == Mutex::kAdaptive) {
      take_waiting(t, *m);
      return 0;
    }
  return note(t, *m, call_original(hook, m, arguments...));
}

}  // namespace

namespace {
/// In the child of a fork: another thread of the parent may have it in the copy, since it was at another place then than in the
/// recording, where the child got it.
template <typename Word>
void let_go_of_parents(Thread& t, Mutex& m, Word& held) {
  u32 last = load(state_of(m).last);
  bool foreign = last && (last ^ t.me) >> 16 && !m.between_processes();
  if (foreign && (u32)m.owner != t.process->forked_by) store(held, Word{0});
}

template <typename Word>
void take(Thread& t, Mutex& m, const Due& due, Word& held, Word value) {
  let_go_of_parents(t, m, held);
  take_in_order(t, state_of(m), m.address(), m.between_processes(), due, held, value);
}
}  // namespace

int replay_lock(Thread& t, Mutex& m, const Due& due) {
  if (!due.acquires()) {
    count_operation(t);
    return (int)due.result;
  }
  if (m.robust()) {
    TableState& s = m.place().state;
    take(t, m, due, s.held, kHeldRobust);
    store(s.holder, t.me);
    m.spins = due.result == kOwnerDead;
  } else {
    take(t, m, due, m.lock, 1);
  }
  m.owner = (i32)t.tid;
  ++m.users;
  m.count = m.type() == Mutex::kRecursive;
  pass_point(t);
  return (int)due.result;
}

int replay_unlock(Thread& t, Mutex& m) {
  bool checks = m.type() == Mutex::kErrorCheck || m.type() == Mutex::kRecursive || m.robust();
  if (checks && !is_mine(t, m)) return kNotPermitted;
  if (m.type() == Mutex::kRecursive && m.count > 1) {
    --m.count;
    return 0;
  }
  m.count = 0;
  m.owner = 0;
  --m.users;
  index_release(t, stage::ObjectKind::kMutex, m.address(), m.between_processes());
  if (m.robust()) {
    m.spins = 0;
    TableState& s = m.place().state;
    store(s.holder, 0u);
    __atomic_exchange_n(&s.held, 0u, __ATOMIC_SEQ_CST);
  } else {
    __atomic_exchange_n(&m.lock, 0, __ATOMIC_SEQ_CST);
  }
  announce_release(state_of(m), m.address(), m.between_processes());
  pass_point(t);
  return 0;
}

extern "C" {

/// From patch/fast_paths.S: it is locked, but another thread had it last.
int runtime_handed_over(Mutex* m) {
  note_acquired(current(), m->state, m->address(), m->between_processes());
  return 0;
}
/// It is unlocked, and in replay somebody waits for a version.
int runtime_announce_mutex(Mutex* m) {
  announce_release(m->state, m->address(), false);
  return 0;
}
/// It is unlocked, and somebody waits.
int runtime_wake_mutex(Mutex* m) {
  sys(__NR_futex, &m->lock, kFutexWake | (m->shared() ? 0 : kFutexPrivate), 1, 0, 0, 0);
  return 0;
}

int hook_pthread_mutex_lock(Mutex* m) { return lock(Hook::pthread_mutex_lock, m); }
int hook_pthread_mutex_timedlock(Mutex* m, void* until) { return lock(Hook::pthread_mutex_timedlock, m, until); }
int hook_pthread_mutex_clocklock(Mutex* m, int clock, void* until) {
  return lock(Hook::pthread_mutex_clocklock, m, clock, until);
}

int hook_pthread_mutex_trylock(Mutex* m) {
  Thread& t = current();
  note_use(t, stage::ObjectKind::kMutex);
  if (!is_ordered(t, m->shared())) return call_original(Hook::pthread_mutex_trylock, m);
  if (is_mine(t, *m) && m->type() == Mutex::kRecursive) {
    if (!g.replay) return call_original(Hook::pthread_mutex_trylock, m);
    ++m->count;
    return 0;
  }
  if (g.replay) return replay_lock(t, *m, next_operation(t, m->address()));
  look_for_signals(t);
  if (take_plain(t, *m)) return 0;
  return note(t, *m, m->plain() ? kBusyResult : call_original(Hook::pthread_mutex_trylock, m));
}

int hook_pthread_mutex_unlock(Mutex* m) {
  Thread& t = current();
  if (!is_ordered(t, m->shared())) return call_original(Hook::pthread_mutex_unlock, m);
  if (g.replay) return replay_unlock(t, *m);
  if (!m->plain()) return call_original(Hook::pthread_mutex_unlock, m);
  m->owner = 0;
  --m->users;
  return __atomic_exchange_n(&m->lock, 0, __ATOMIC_SEQ_CST) > 1 ? runtime_wake_mutex(m) : 0;
}

int hook_pthread_mutex_init(Mutex* m, void* attributes) {
  int result = call_original(Hook::pthread_mutex_init, m, attributes);
  if (!result) state_of(*m) = {};
  return result;
}

int hook_pthread_mutex_destroy(Mutex* m) {
  ObjectState& state = state_of(*m);
  int result = call_original(Hook::pthread_mutex_destroy, m);
  if (!result) state.version = state.last = 0;
  return result;
}

int hook_pthread_mutex_consistent(Mutex* m) {
  if (!g.replay || !is_ordered(current(), m->shared())) return call_original(Hook::pthread_mutex_consistent, m);
  bool mended = m->robust() && m->spins;
  m->spins = 0;
  return mended ? 0 : kInvalid;
}

}  // extern "C"
}  // namespace pastcone::runtime

// Semaphores and spinlocks.
#include "hooks.h"
#include "shared_places.h"
#include "unwinding.h"

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

/// Replay of either. True: it succeeds; else `result`. What it counts is left alone, and stays what it was at first.
bool replay_access(Thread& t, Semaphore& s, long& result, bool posts = false) {
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
  await(s.state(), s.address(), s.shared(), wanted, [&] {
    u64 now = version_of(load(s.access));
    if ((i32)(u32)(now - wanted) > 0)
      diverge_order(t, s.address(), "the semaphore was used more often", (i64)wanted, (i64)now);
    return now == wanted;
  });
  if (is_indexed()) index_instant(t, s.address(), s.shared(), wanted, (u32)s.data, posts);
  __atomic_exchange_n(&s.access, (wanted + 1) << 32 | t.me, __ATOMIC_SEQ_CST);
  count_operation(t);
  announce(s.state(), s.address(), s.shared());
  pass_point(t);
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

template <typename... Arguments>
int wait_natively(Hook hook, Semaphore* s, bool ordered, Arguments... arguments) {
  if (!ordered) return call_original(hook, s, arguments...);
  OnCancel cancel(note_cancelled, s);
  {
    Cancellable cancellable;
    look_for_signals(current());
  }
  call_original<void>(Hook::pthread_testcancel);  // even if it need not wait
  return take_at_once(*s) ? 0 : call_original(hook, s, arguments...);
}

int replay_wait(Thread& t, Semaphore& s) {
  let_cancel(t, replay_cancelled, &s);
  long error;
  return replay_access(t, s, error) ? 0 : fail_with((int)error);
}

template <typename... Arguments>
[[gnu::always_inline]] inline int wait(Hook hook, Semaphore* s, Arguments... arguments) {
  Thread& t = current();
  note_use(t, stage::ObjectKind::kSemaphore);
  bool ordered = is_ordered(t, s->shared());
  if (g.replay && ordered) return replay_wait(t, *s);
  bool at_once = !t.process->cancels;
  if (ordered && at_once) look_for_signals(t);
  bool taken = at_once && take_at_once(*s);
  int result = taken ? 0 : wait_natively(hook, s, ordered, arguments...);
  if (!ordered) return result;
  if (result) note_result(t, program_errno());
  else note_access(t, *s);
  return result;
}


const Timespec kNever{(i64)1 << 60, 0};

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
  if (!is_ordered(t, t.process->shares)) return spin_natively(lock, waits);
  auto [s, shared] = place_of(t, (u64)lock);
  if (!is_ordered(t, shared)) return spin_natively(lock, waits);
  if (!g.replay) {
    int result = spin_natively(lock, waits);
    if (result) {
      note_result(t, result);
    } else {
      note_acquired(t, s, (u64)lock, shared);
      store(s.holder, t.me);
    }
    return result;
  }
  Due due = next_operation(t, (u64)lock);
  if (!due.acquires()) {
    count_operation(t);
    return (int)due.result;
  }
  u32 last = load(s.last);
  if (last && (last ^ t.me) >> 16 && !shared) store(s.held, 0u);  // a thread of the parent had it
  take_in_order(t, s, (u64)lock, shared, due, s.held);
  store(s.holder, t.me);
  pass_point(t);
  return 0;
}

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
    if (g.replay) return replay_access(t, *s, result, true) ? 0 : fail_with((int)result);
    look_for_signals(t);
    note_access(t, *s);
  }
  return call_original(Hook::sem_post, s);
}

int hook_sem_wait(Semaphore* s) { return wait(Hook::sem_clockwait, s, 1, &kNever); }
int hook_sem_timedwait(Semaphore* s, void* until) { return wait(Hook::sem_timedwait, s, until); }
int hook_sem_clockwait(Semaphore* s, int clock, void* until) { return wait(Hook::sem_clockwait, s, clock, until); }

int hook_sem_trywait(Semaphore* s) {
  Thread& t = current();
  note_use(t, stage::ObjectKind::kSemaphore);
  bool ordered = is_ordered(t, s->shared());
  if (g.replay && ordered) {
    long error;
    return replay_access(t, *s, error) ? 0 : fail_with((int)error);
  }
  bool taken = take_at_once(*s);
  if (!ordered) return taken ? 0 : fail_with(EAGAIN);
  if (taken) note_access(t, *s);
  else note_result(t, EAGAIN);
  return taken ? 0 : fail_with(EAGAIN);
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

int hook_pthread_spin_lock(int* lock) { return spin(lock, true); }
int hook_pthread_spin_trylock(int* lock) { return spin(lock, false); }
/// Or the lock begins to exist.
int hook_pthread_spin_unlock(int* lock) {
  Thread& t = current();
  if (is_ordered(t, t.process->shares)) {
    auto [s, shared] = place_of(t, (u64)lock);
    bool begins = !load(s.holder);
    if (begins) s.version = s.last = 0;
    store(s.holder, 0u);
    if (g.replay && is_ordered(t, shared)) {
      if (!begins) index_release(t, stage::ObjectKind::kSpinLock, (u64)lock, shared);
      __atomic_exchange_n(&s.held, 0u, __ATOMIC_SEQ_CST);
      announce_release(s, (u64)lock, shared);
      if (!begins) pass_point(t);
    }
  }
  __atomic_exchange_n(lock, kSpinFree, __ATOMIC_SEQ_CST);
  return 0;
}

}  // extern "C"
}  // namespace pastcone::runtime

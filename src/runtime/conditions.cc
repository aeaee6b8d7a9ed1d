// Condition variables. In replay nobody waits on one: who waited comes back when its mutex has the version that it found then.
#include "hooks.h"
#include "mutexes.h"
#include "unwinding.h"

namespace pastcone::runtime {
namespace {

/// The thread is cancelled while it waits: it has the mutex again when its cleanup handlers run.
void note_cancelled_wait(void* mutex) {
  auto& m = *(Mutex*)mutex;
  current().awaits = false;
  note_acquired(current(), state_of(m), m.address(), m.between_processes(), kCancelled);
}
void replay_cancelled_wait(void* mutex) {
  auto& m = *(Mutex*)mutex;
  replay_lock(current(), m, next_operation_unsignalled(current(), m.address()));
}

template <typename... Arguments>
int wait_natively(Hook hook, void* condition, Mutex* m, Arguments... arguments) {
  OnCancel cancel(note_cancelled_wait, m);
  current().awaits = true;
  int result = call_original(hook, condition, m, arguments...);
  current().awaits = false;
  return result;
}

template <typename... Arguments>
[[gnu::always_inline]] inline int wait(Hook hook, void* condition, Mutex* m, Arguments... arguments) {
  Thread& t = current();
  note_use(t, stage::ObjectKind::kMutex);
  if (!is_ordered(t, m->shared())) return call_original(hook, condition, m, arguments...);
  if (g.replay) {
    // Handlers run without the mutex; and who still waited at the end of the recording did not have it.
    bool released = signals_inside(t) || is_last_operation(t) || is_cancelled_here(t);
    if (released) replay_unlock(t, *m);
    let_cancel(t, replay_cancelled_wait, m);
    t.condition = (u64)condition;
    Due due = next_operation(t, m->address());
    t.condition = 0;
    bool lost = due.result == kNotRecoverable;  // it is given back, and cannot be had any more
    if ((due.acquires() || lost) && !released) replay_unlock(t, *m);
    int result = replay_lock(t, *m, due);
    if (due.acquires() && !result) index_point_at(t, stage::FactKind::kWoken, (u64)condition);
    return result;
  }
  int result = wait_natively(hook, condition, m, arguments...);
  if (result == kInvalid || result == kNotPermitted || result == kNotRecoverable) note_result(t, result);  // it has not got it
  else if (result) note_acquired(t, state_of(*m), m->address(), m->between_processes(), result);
  else note_acquired(t, state_of(*m), m->address(), m->between_processes());
  return result;
}

/// Nothing to do in replay, unless nothing is ordered.
int wake(Hook hook, void* condition) {
  Thread& t = current();
  if (!g.replay || !is_ordered(t, false)) return call_original(hook, condition);
  pass_point(t);
  index_point_at(t, stage::FactKind::kSignalled, (u64)condition);
  return 0;
}

}  // namespace

extern "C" {

int hook_pthread_cond_wait(void* condition, Mutex* m) { return wait(Hook::pthread_cond_wait, condition, m); }
int hook_pthread_cond_timedwait(void* condition, Mutex* m, void* until) {
  return wait(Hook::pthread_cond_timedwait, condition, m, until);
}
int hook_pthread_cond_clockwait(void* condition, Mutex* m, int clock, void* until) {
  return wait(Hook::pthread_cond_clockwait, condition, m, clock, until);
}
int hook_pthread_cond_signal(void* condition) { return wake(Hook::pthread_cond_signal, condition); }
int hook_pthread_cond_broadcast(void* condition) { return wake(Hook::pthread_cond_broadcast, condition); }
int hook_pthread_cond_destroy(void* condition) {
  return g.replay && is_ordered(current(), false) ? 0 : call_original(Hook::pthread_cond_destroy, condition);
}

}  // extern "C"
}  // namespace pastcone::runtime

// Critical sections and locks of OpenMP. libgomp takes them by inlined instructions.
#include "hooks.h"
#include "ordered.h"

namespace pastcone::runtime {
namespace {

/// Those that have no address: there is one of each.
constexpr u64 kCritical = 8, kAtomic = 16;

template <typename... Arguments>
void start(Hook hook, u64 address, Arguments... arguments) {
  Thread& t = current();
  bool ordered = is_ordered(t, false);
  if (ordered && g.replay) OrderedLock(address).take(t);
  call_original<void>(hook, arguments...);
  if (ordered && !g.replay) note_acquired(t, table_state(address), address, false);
}

template <typename... Arguments>
void end(Hook hook, u64 address, Arguments... arguments) {
  call_original<void>(hook, arguments...);
  if (g.replay) OrderedLock(address).give_back(current());
}

/// Of a lock that a thread may set several times, which counts.
void note_set(Thread& t, u64 address) {
  TableState& s = table_state(address);
  store(s.holder, t.me);
  s.held = 1;
  note_acquired(t, s, address, false);
}

}  // namespace

extern "C" {

void hook_GOMP_critical_start() { start(Hook::GOMP_critical_start, kCritical); }
void hook_GOMP_critical_end() { end(Hook::GOMP_critical_end, kCritical); }
void hook_GOMP_critical_name_start(void** name) { start(Hook::GOMP_critical_name_start, (u64)name, name); }
void hook_GOMP_critical_name_end(void** name) { end(Hook::GOMP_critical_name_end, (u64)name, name); }
void hook_GOMP_atomic_start() { start(Hook::GOMP_atomic_start, kAtomic); }
void hook_GOMP_atomic_end() { end(Hook::GOMP_atomic_end, kAtomic); }

void hook_omp_set_lock(void* lock) { start(Hook::omp_set_lock, (u64)lock, lock); }
void hook_omp_unset_lock(void* lock) { end(Hook::omp_unset_lock, (u64)lock, lock); }
int hook_omp_test_lock(void* lock) {
  Thread& t = current();
  if (!is_ordered(t, false)) return call_original(Hook::omp_test_lock, lock);
  if (g.replay) return OrderedLock((u64)lock).try_take(t) ? call_original(Hook::omp_test_lock, lock) : 0;
  int result = call_original(Hook::omp_test_lock, lock);
  if (result) note_acquired(t, table_state((u64)lock), (u64)lock, false);
  else note_result(t, 1);
  return result;
}

void hook_omp_set_nest_lock(void* lock) {
  Thread& t = current();
  OrderedLock ours((u64)lock);
  bool ordered = is_ordered(t, false), note = ordered && !g.replay && !ours.depth(t);
  if (ordered && !note) ours.take(t);
  call_original<void>(Hook::omp_set_nest_lock, lock);
  if (note) note_set(t, (u64)lock);
}
int hook_omp_test_nest_lock(void* lock) {
  Thread& t = current();
  OrderedLock ours((u64)lock);
  bool ordered = is_ordered(t, false), note = ordered && !g.replay && !ours.depth(t);
  if (ordered && !note && !ours.try_take(t)) return 0;
  int result = call_original(Hook::omp_test_nest_lock, lock);
  if (note && result) note_set(t, (u64)lock);
  else if (note) note_result(t, 1);
  return result;
}
void hook_omp_unset_nest_lock(void* lock) {
  // In record somebody else may have it as soon as libgomp has given it back.
  Thread& t = current();
  OrderedLock ours((u64)lock);
  if (!g.replay) ours.give_back(t);
  call_original<void>(Hook::omp_unset_nest_lock, lock);
  if (g.replay) ours.give_back(t);
}

}  // extern "C"
}  // namespace pastcone::runtime

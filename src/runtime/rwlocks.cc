// Reader-writer locks. Readers between two writes may come in any order: a reader waits for the last write before it, a writer for
// all accesses.
#include "hooks.h"
#include "objects.h"

namespace pastcone::runtime {
namespace {

/// As glibc lays it out; the words it does not use are ours.
struct RwLock {
  u32 readers, writers;  ///< readers: kWriting and others, and from kReader on how many; left as glibc does, which had it first
  u32 phase_futex, writers_futex;
  u32 version, writes;   ///< accesses so far, and how many of them wrote
  i32 current_writer;
  i32 is_shared;
  ObjectState order;     ///< who wrote, if that was the last access, and who waits; its version is glibc's, and not looked at
  u32 flags;
  u32 process;           ///< whose accesses these are

  bool shared() const { return is_shared; }
  u64 address() const { return (u64)this; }
};
constexpr u32 kWriting = 2, kReader = 8;
static_assert(sizeof(RwLock) == 56 && offsetof(RwLock, order) == 32);

/// Where the cache of versions keeps the number of writes.
u64 read_key(const RwLock& l) { return l.address() + 1; }

u64& known_writes(Thread& t, RwLock& l) { return cached_version(t, read_key(l)); }

/// In replay the words that say who has it are our own; the child of a fork has what the thread had that made it, and nothing else.
void begin_anew(Thread& t, RwLock& l) {
  bool kept = l.current_writer && (u32)l.current_writer == t.process->forked_by;
  l.version = l.writes = l.order.last = l.order.waiters = 0;
  if (!g.replay) return;
  l.readers = (l.readers & (kWriting - 1)) | (kept ? kWriting : 0);
  l.current_writer = kept ? (i32)t.tid : 0;
}

void refresh(Thread& t, RwLock& l) {
  constexpr u32 kBusy = ~0u;
  u32 mine = t.me >> 16;
  for (;;) {
    u32 process = load(l.process);
    if (process == mine || l.shared()) return;
    if (process == kBusy || !swap_if(l.process, process, kBusy)) continue;
    if (process) begin_anew(t, l);
    store(l.process, mine);
    return;
  }
}

void note_read(Thread& t, RwLock& l) {
  refresh(t, l);
  u32 writes = load(l.writes);
  add(l.version, 1u);
  if (load(l.order.last)) store(l.order.last, 0u);
  // The first time in a version that somebody wrote there is an entry; + 1 so that the first of all counts too.
  if (known_writes(t, l) != writes + u64{1}) write_entry(t, EntryKind::kAcquired, read_key(l), writes + u64{1}, 0);
  count_operation(t);
}

void note_write(Thread& t, RwLock& l) {
  refresh(t, l);
  u32 version = l.version;
  store(l.version, version + 1);
  store(l.writes, l.writes + 1);
  if (l.order.last != t.me) {
    write_entry(t, EntryKind::kAcquired, l.address(), version, 0);
    store(l.order.last, t.me);
  }
  count_operation(t);
}

template <typename Ready>
void wait(RwLock& l, u64 version, Ready ready) {
  await(l.order, l.address(), l.shared(), version, ready);
}

int replay_read(Thread& t, RwLock& l) {
  // The address is that of the lock; reads are told from writes by their key.
  Due due = next_operation(t, read_key(l));
  if (!due.acquires()) {
    count_operation(t);
    return (int)due.result;
  }
  refresh(t, l);
  u64 wanted = known_writes(t, l) - 1;
  wait(l, wanted, [&] {
    u32 writes = load(l.writes);
    if ((i32)(writes - (u32)wanted) > 0)
      diverge_order(t, l.address(), "the lock was taken for writing more often", (i64)wanted, writes);
    return writes == (u32)wanted && !(load(l.readers) & kWriting);
  });
  add(l.readers, kReader);
  {
    IndexLock lock(t);
    u32 version = add(l.version, 1u);
    if (is_indexed()) index_access(t, l.address(), l.shared(), version, wanted, false);
  }
  if (load(l.order.last)) store(l.order.last, 0u);
  count_operation(t);
  announce(l.order, l.address(), l.shared());
  pass_point(t);
  return 0;
}

int replay_write(Thread& t, RwLock& l) {
  Due due = next_operation(t, l.address());
  if (!due.acquires()) {
    count_operation(t);
    return (int)due.result;
  }
  refresh(t, l);
  if (!due.ordered && l.order.last != t.me)
    diverge_owner(t, l.address(), l.order.last);
  u32 wanted = due.ordered ? (u32)due.version : l.version;
  wait(l, wanted, [&] {
    u32 version = load(l.version);
    if ((i32)(version - wanted) > 0) diverge_order(t, l.address(), "the lock was taken more often", wanted, version);
    u32 readers = load(l.readers);
    return version == wanted && readers < kReader && !(readers & kWriting);
  });
  add(l.readers, kWriting);
  store(l.order.last, t.me);
  if (is_indexed()) index_access(t, l.address(), l.shared(), l.version, l.writes, true);
  store(l.writes, l.writes + 1);
  store(l.version, l.version + 1);
  l.current_writer = (i32)t.tid;
  count_operation(t);
  pass_point(t);
  return 0;
}

template <typename... Arguments>
[[gnu::always_inline]] inline int read_lock(Hook hook, RwLock* l, Arguments... arguments) {
  Thread& t = current();
  note_use(t, stage::ObjectKind::kRwLock);
  if (!is_ordered(t, l->shared())) return call_original(hook, l, arguments...);
  if (g.replay) return replay_read(t, *l);
  look_for_signals(t);
  int result = call_original(hook, l, arguments...);
  if (result) note_result(t, result);
  else note_read(t, *l);
  return result;
}

template <typename... Arguments>
[[gnu::always_inline]] inline int write_lock(Hook hook, RwLock* l, Arguments... arguments) {
  Thread& t = current();
  note_use(t, stage::ObjectKind::kRwLock);
  if (!is_ordered(t, l->shared())) return call_original(hook, l, arguments...);
  if (g.replay) return replay_write(t, *l);
  look_for_signals(t);
  int result = call_original(hook, l, arguments...);
  if (result) note_result(t, result);
  else note_write(t, *l);
  return result;
}

}  // namespace

extern "C" {

int hook_pthread_rwlock_rdlock(RwLock* l) { return read_lock(Hook::pthread_rwlock_rdlock, l); }
int hook_pthread_rwlock_timedrdlock(RwLock* l, void* until) { return read_lock(Hook::pthread_rwlock_timedrdlock, l, until); }
int hook_pthread_rwlock_clockrdlock(RwLock* l, int clock, void* until) {
  return read_lock(Hook::pthread_rwlock_clockrdlock, l, clock, until);
}
int hook_pthread_rwlock_wrlock(RwLock* l) { return write_lock(Hook::pthread_rwlock_wrlock, l); }
int hook_pthread_rwlock_trywrlock(RwLock* l) { return write_lock(Hook::pthread_rwlock_trywrlock, l); }
int hook_pthread_rwlock_timedwrlock(RwLock* l, void* until) { return write_lock(Hook::pthread_rwlock_timedwrlock, l, until); }
int hook_pthread_rwlock_clockwrlock(RwLock* l, int clock, void* until) {
  return write_lock(Hook::pthread_rwlock_clockwrlock, l, clock, until);
}

/// Trying is waiting for no time at all.
int hook_pthread_rwlock_tryrdlock(RwLock* l) {
  static const Timespec past{0, 0};
  Thread& t = current();
  note_use(t, stage::ObjectKind::kRwLock);
  if (g.replay && is_ordered(t, l->shared())) return replay_read(t, *l);
  int result = call_original(Hook::pthread_rwlock_clockrdlock, l, 1, &past);
  if (result == kTimedOut || result == kDeadlock) result = kBusyResult;
  if (!is_ordered(t, l->shared())) return result;
  if (result) note_result(t, result);
  else note_read(t, *l);
  return result;
}

int hook_pthread_rwlock_unlock(RwLock* l) {
  Thread& t = current();
  if (!g.replay || !is_ordered(t, l->shared())) return call_original(Hook::pthread_rwlock_unlock, l);
  refresh(t, *l);
  bool wrote = load(l->readers) & kWriting && l->current_writer == (i32)t.tid;
  if (wrote) l->current_writer = 0;
  index_release(t, stage::ObjectKind::kRwLock, l->address(), l->shared());
  // Else its reader is the thread that made this process.
  if (wrote || load(l->readers) >= kReader) add(l->readers, -(wrote ? kWriting : kReader));
  announce(l->order, l->address(), l->shared());
  pass_point(t);
  return 0;
}

int hook_pthread_rwlock_init(RwLock* l, void* attributes) {
  int result = call_original(Hook::pthread_rwlock_init, l, attributes);
  l->version = l->writes = l->order.last = l->order.waiters = l->process = 0;
  return result;
}

int hook_pthread_rwlock_destroy(RwLock* l) {
  l->version = l->writes = l->order.last = l->process = 0;
  return 0;
}

}  // extern "C"
}  // namespace pastcone::runtime

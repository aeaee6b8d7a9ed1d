// One writer or many readers at a time, in parallel mode. Readers between two writes may come in any order: a read waits for
// the last write before it, a write for all accesses. In serial mode accesses are only counted, for their order is known.
#include "named_objects.h"

#include "call.h"
#include "objects.h"
#include "pastcone/object.h"
#include "shared_places.h"
#include "waits.h"

namespace pastcone::runtime {
namespace {

/// As the program has it.
struct Object {
  char name[32];
  ObjectState state;
  u32 writes;      ///< of the accesses so far
  u32 home;        ///< number of the process whose it is, or one that shares it; 0: new
  u16 place;       ///< kPrivate, kShared
  u16 depth;       ///< begun again by who writes
  u32 writer;      ///< Thread::me
  u32 readers[14];
  u32 more_readers;  ///< for whom there was no room
  u32 reserved;

  u64 address() const { return (u64)this; }
  bool shared() const { return place == kShared; }
  static constexpr u16 kPrivate = 1, kShared = 2;
};
static_assert(sizeof(Object) == sizeof(pastcone_object) && offsetof(Object, state) == offsetof(pastcone_object, state));

/// Where the cache of versions keeps the number of writes.
u64 read_key(const Object& o) { return o.address() + 1; }

/// In a new object, and in the copy that a child of fork has, nothing has happened yet.
void meet(Thread& t, Object& o) {
  constexpr u32 kBusy = ~0u;
  u32 me = t.process->number;
  for (;;) {
    u32 home = load(o.home);
    if (home == me || (home && home != kBusy && o.shared())) return;
    if (home == kBusy || !swap_if(o.home, home, kBusy)) continue;
    if (!home) o.place = is_shared_memory(o.address()) ? Object::kShared : Object::kPrivate;
    if (!o.shared()) {
      o.state = {};
      o.writes = o.writer = o.more_readers = o.depth = 0;
      for (u32& reader : o.readers) reader = 0;
    }
    store(o.home, me);
    return;
  }
}

// --- who has it --------------------------------------------------------------------------------------------------------------

/// Who was killed cannot give back what it had.
bool is_gone_holder(Thread& t, u32 holder) {
  u32 process = holder >> 16;
  if (process == t.process->number || process >= stage::kMaxProcesses) return false;
  auto& slot = g.stage.process(process);
  if (!g.replay) return is_gone(slot.pid);
  u32 state = load(g.stage.thread(slot.first_thread + (holder & 0xffff) - 1).state);
  return state != (u32)stage::ThreadState::kRunning && state != (u32)stage::ThreadState::kWaiting;
}

void release_gone(Thread& t, Object& o) {
  u32 writer = load(o.writer);
  if (writer && is_gone_holder(t, writer)) swap_if(o.writer, writer, 0u);
  for (u32& reader : o.readers) {
    u32 holder = load(reader);
    if (holder && is_gone_holder(t, holder)) swap_if(reader, holder, 0u);
  }
}

bool is_read_by(const Object& o, u32 me) {
  for (const u32& reader : o.readers)
    if (load(reader) == me) return true;
  return false;
}

u32 reads_of(const Object& o, u32 me) {
  u32 count = 0;
  for (const u32& reader : o.readers) count += load(reader) == me;
  return count;
}

/// Whether nobody but the current thread reads it.
bool is_unread(Thread& t, const Object& o) {
  for (const u32& reader : o.readers)
    if (load(reader) && load(reader) != t.me) return false;
  return !load(o.more_readers);
}

void add_reader(Thread& t, Object& o) {
  for (u32& reader : o.readers)
    if (!load(reader) && swap_if(reader, 0u, t.me)) return;
  add(o.more_readers, 1u);
}

void remove_reader(Thread& t, Object& o) {
  for (u32& reader : o.readers)
    if (load(reader) == t.me && swap_if(reader, t.me, 0u)) return;
  if (load(o.more_readers)) add(o.more_readers, -1);
}

/// Waits in either mode until `ready`; looks now and then whether somebody is gone.
template <typename Ready>
void wait_until(Thread& t, Object& o, u64 version, Ready ready) {
  for (int i = 0; i < 50; ++i) {
    if (ready()) return;
    __builtin_ia32_pause();
  }
  for (int i = 0; i < (g.replay ? 2000 : 50); ++i) {
    if (ready()) return;
    sys(__NR_sched_yield);
  }
  u32& futex = object_futex(o.address(), o.shared());
  if (g.replay) begin_wait(stage::WaitKind::kOrder, o.address(), version);
  add(o.state.waiters, 1u);
  for (;;) {
    u32 seen = load(futex);
    if (ready()) break;
    release_gone(t, o);
    if (ready()) break;
    if (g.replay && load(g.stage.header().give_up)) abandon_wait();
    Timespec wait{0, 50'000'000};
    futex_wait(futex, seen, &wait);
  }
  add(o.state.waiters, -1);
  if (g.replay) end_wait();
}

void say(Object& o) { announce(o.state, o.address(), o.shared()); }

// --- record ------------------------------------------------------------------------------------------------------------------

void record_read(Thread& t, Object& o) {
  wait_until(t, o, 0, [&] {
    if (load(o.writer)) return false;
    add_reader(t, o);
    if (!load(o.writer)) return true;
    remove_reader(t, o);
    say(o);
    return false;
  });
  u64 writes = load(o.writes) + u64{1};  // + 1 so that the first of all counts too
  add(o.state.version, 1u);
  if (load(o.state.last)) store(o.state.last, 0u);
  if (cached_version(t, read_key(o)) != writes) write_entry(t, EntryKind::kAcquired, read_key(o), writes, 0);
  count_operation(t);
}

void record_write(Thread& t, Object& o) {
  wait_until(t, o, 0, [&] { return swap_if(o.writer, 0u, t.me); });
  wait_until(t, o, 0, [&] { return is_unread(t, o); });
  u64 version = o.state.version++;
  store(o.writes, o.writes + 1);
  if (o.state.last != t.me) {
    store(o.state.last, t.me);
    write_entry(t, EntryKind::kAcquired, o.address(), version, 0);
  }
  count_operation(t);
}

// --- replay ------------------------------------------------------------------------------------------------------------------

void replay_read(Thread& t, Object& o) {
  Due due = next_operation(t, read_key(o));
  if (!due.acquires()) diverge_order(t, o.address(), "an object is used where something failed", due.result, 0);
  u64 wanted = cached_version(t, read_key(o)) - 1;
  wait_until(t, o, wanted, [&] {
    u32 writes = load(o.writes);
    if ((i32)(writes - (u32)wanted) > 0)
      diverge_order(t, o.address(), "the object was written more often", (i64)wanted, writes);
    return writes == (u32)wanted && !load(o.writer);
  });
  add_reader(t, o);
  {
    IndexLock lock(t);
    u64 version = add(o.state.version, 1u);
    if (is_indexed()) index_access(t, o.address(), o.shared(), version, wanted, false, o.name);
  }
  if (load(o.state.last)) store(o.state.last, 0u);
  count_operation(t);
  say(o);
  pass_point(t);
}

void replay_write(Thread& t, Object& o) {
  Due due = next_operation(t, o.address());
  if (!due.acquires()) diverge_order(t, o.address(), "an object is used where something failed", due.result, 0);
  if (!due.ordered && o.state.last != t.me)
    diverge_owner(t, o.address(), o.state.last);
  u64 wanted = due.ordered ? due.version : o.state.version;
  wait_until(t, o, wanted, [&] {
    u64 version = load(o.state.version);
    if ((i64)(version - wanted) > 0)
      diverge_order(t, o.address(), "the object was used more often", (i64)wanted, (i64)version);
    return version == wanted && !load(o.writer) && is_unread(t, o);
  });
  store(o.writer, t.me);
  store(o.state.last, t.me);
  if (is_indexed()) index_access(t, o.address(), o.shared(), wanted, o.writes, true, o.name);
  store(o.writes, o.writes + 1);
  store(o.state.version, wanted + 1);
  count_operation(t);
  pass_point(t);
}

// --- both --------------------------------------------------------------------------------------------------------------------

/// Serial mode: one thread at a time is here, since a thread does not lose its turn inside the runtime. Nobody waits.
void count_access(Thread& t, Object& o, bool write) {
  if (is_indexed()) index_access(t, o.address(), o.shared(), o.state.version, o.writes, write, o.name);
  ++o.state.version;
  o.writes += write;
  if (write) {
    o.writer = t.me;
    o.depth = 0;
  } else {
    add_reader(t, o);
  }
  if (g.replay) pass_point(t);
}

template <bool kWrite>
[[gnu::always_inline]] inline void begin(pastcone_object* object) {
  auto& o = *(Object*)object;
  Thread& t = current();
  if (t.process->outside) return;
  note_use(t, stage::ObjectKind::kNamed);
  meet(t, o);
  if (load(o.writer) == t.me) {  // again, inside a write: no access of its own
    ++o.depth;
    return;
  }
  if (!kWrite && is_read_by(o, t.me)) return add_reader(t, o);
  if (!t.process->parallel) return count_access(t, o, kWrite);
  if (kWrite) g.replay ? replay_write(t, o) : record_write(t, o);
  else g.replay ? replay_read(t, o) : record_read(t, o);
}

template <bool kWrite>
void end(pastcone_object* object) {
  auto& o = *(Object*)object;
  Thread& t = current();
  if (t.process->outside && load(o.writer) != t.me && !is_read_by(o, t.me)) return;  // begun when it was no longer recorded
  if (load(o.writer) == t.me) {
    if (o.depth) {
      --o.depth;
      return;
    }
  }
  if (kWrite ? load(o.writer) == t.me : reads_of(o, t.me) < 2) index_release(t, stage::ObjectKind::kNamed, o.address(), o.shared());
  if (!kWrite) remove_reader(t, o);
  else if (load(o.writer) == t.me) __atomic_exchange_n(&o.writer, 0u, __ATOMIC_SEQ_CST);
  if (t.process->parallel) say(o);
  if (g.replay) pass_point(t);
}

const pastcone_functions functions{begin<false>, end<false>, begin<true>, end<true>};

}  // namespace

bool answer_object_call(Frame& frame) {
  if ((u32)frame.number != PASTCONE_CALL) return false;
  frame.rax = frame.rdi == PASTCONE_CALL_VERSION ? (u64)&functions : (u64)-ENOSYS;
  return true;
}

}  // namespace pastcone::runtime

// Objects whose order of access matters, in parallel mode: locks and their like.
//
// Each object counts its accesses, its version, and knows who had it last. A thread writes nothing down while it is the same one
// that comes again; else which version it found. These entries are its lock stream, apart from its events:
//
//   skip, kind    ordered operations since that of the last entry; all but that one went as predicted
//   kAcquired     delta: the version, less the one it found last time (a small cache by address; 0 if forgotten)
//   kResult       zigzag: the operation acquired nothing, and gave this
//   kBoth         zigzag: the result; varint: 0 as predicted, or 1 + zigzag of delta
//   Who runs an initialisation has a kBoth entry, and the result is its address. For their bytes see entries.h.
//
// In replay an operation with an entry waits for its version; one without must find that it had the object last.
#pragma once

#include "cores.h"
#include "entries.h"
#include "horizon.h"
#include "index.h"
#include "thread.h"

namespace pastcone::runtime {

/// In the object itself, where it has room.
struct ObjectState {
  u64 version;
  u32 last;     ///< Thread::me, or 0
  u32 waiters;  ///< replay: how many wait for a change; or see take_in_order
};
static_assert(sizeof(ObjectState) == 16);

/// Of those that have no room, and only memory of one process: by address.
struct TableState : ObjectState {
  u64 address;
  u32 held;      ///< replay
  u32 holder;
};
TableState& table_state(u64 address);
inline constexpr u32 kTableSize = 1 << 14;
extern TableState object_table[kTableSize];
/// The entry of `key` in such a table.
TableState& find_state(TableState* table, u32 size, u64 key);

/// Whether the order of this process's operations counts: it has, or had, several threads; or the object is one that
/// processes share.
inline bool is_ordered(Thread& t, bool shared) {
  Process& p = *t.process;
  return (p.several || shared) && !p.outside;
}

/// In the child of a fork, memory is a copy of what it was at some moment, and other threads of the parent may have had the object
/// by then or not: it begins anew.
void begin_anew(Thread& t, ObjectState& s);
inline void refresh(Thread& t, ObjectState& s, bool shared) {
  u32 last = load(s.last);
  if (last && (last ^ t.me) >> 16 && !shared) begin_anew(t, s);
}

/// Record, before an operation: a thread that does nothing but use locks takes its signals here, where replay finds the place.
void let_signals_in(Thread& t);
inline void look_for_signals(Thread& t) {
  if (load(t.interrupt) | !t.counts) [[unlikely]] let_signals_in(t);
}

/// Whether patch/fast_paths.S may be used; not if a signal is due inside the next operation.
inline void allow_fast_path(Thread& t) {
  bool signal = g.replay && t.log.peek() == Op::kInside;
  t.counts = !t.process->several || signal || is_indexed() || has_horizon() ? 0 : g.replay ? COUNTS_REPLAY : COUNTS_RECORD;
}

void open_lock_stream(Thread& t);  ///< at the start of a thread; both modes
void hand_over_lock_stream(Thread& t, Log& log);  ///< to another image of the process
void resume_lock_stream(Thread& t);               ///< there

/// The version of an object that this thread found last, as far as it remembers: the same in both modes.
inline VersionSeen& version_slot(Thread& t, u64 address) {
  static_assert(kCachedVersions == 1 << (32 - VERSION_SHIFT));
  return t.versions[(u32)address * VERSION_HASH >> VERSION_SHIFT];
}
u64& cached_version(Thread& t, u64 address);

// --- record: after the object was acquired, by who has it now
inline constexpr u64 kEntryRoom = 40;
inline u64 zigzag(i64 value) { return (u64)value << 1 ^ (u64)(value >> 63); }
inline format::ChunkHeader& header_of(Window& window) { return *(format::ChunkHeader*)window.base; }

void write_entry(Thread& t, EntryKind kind, u64 address, u64 version, long result);
/// The operation went as predicted.
inline void count_operation(Thread& t) {
  ++*t.operations;
}
inline void note_acquired(Thread& t, ObjectState& s, u64 address, bool shared) {
  refresh(t, s, shared);
  u64 version = s.version++;
  if (s.last != t.me) {
    s.last = t.me;
    write_entry(t, EntryKind::kAcquired, address, version, 0);
  }
  count_operation(t);
}
/// The same with a result that is not 0.
void note_acquired(Thread& t, ObjectState& s, u64 address, bool shared, long result);
/// It was not acquired.
void note_result(Thread& t, long result);

// --- replay
/// Signals that came inside the operation that begins now.
inline bool signals_inside(Thread& t) { return t.log.peek() == Op::kInside; }
void take_signals_inside(Thread& t);

/// What the recording says of the operation that begins now.
struct Due {
  bool predicted;  ///< it has no entry
  EntryKind kind;
  u64 version;     ///< if `ordered`
  bool ordered;
  long result;
  bool acquires() const { return predicted || kind != EntryKind::kResult; }
};
/// The recording has no more of this thread: it ended inside the operation that begins now, or before.
inline bool is_last_operation(Thread& t) { return *t.operations == t.next_entry && !t.has_entry; }
/// `address`: of the object it is about. Does not return at the end of the recording.
Due next_operation(Thread& t, u64 address);
/// The same where no handler may run: inside the heap.
Due next_operation_unsignalled(Thread& t, u64 address);
/// In the lock stream the result of an operation in which its thread was cancelled.
inline constexpr long kCancelled = -1000;
/// Whether that is what comes next: what unwinding does once may stand before it.
bool is_cancelled_here(Thread& t);
/// Whether the thread is the one that ran this initialisation here.
bool ran_here(Thread& t, u64 address);
/// Where the program called one of the hooked functions, or of those that it was given; it becomes the thread's frame.
/// `pointer`: the frame pointer here, which all functions have but those that do not return.
void find_caller(Thread& t, Frame& frame, const void* pointer);
/// The thread used no more of them in the recording.
[[noreturn]] void diverge_additional(Thread& t, u64 address);
[[noreturn]] void diverge_order(Thread& t, u64 address, const char* what, i64 recorded, i64 now);
/// It had the object last in the recording; now `last` had it.
[[noreturn]] void diverge_owner(Thread& t, u64 address, u32 last);

u32& object_futex(u64 address, bool shared);
void wait_object(ObjectState& s, u64 address, bool shared, u64 version, bool (*ready)(void*), void* argument);
/// Waits until `ready`, which says whether the object can be had in this version.
template <typename Ready>
void await(ObjectState& s, u64 address, bool shared, u64 version, Ready ready) {
  for (int i = 0; i < 50; ++i) {
    if (ready()) return;
    __builtin_ia32_pause();
  }
  wait_object(s, address, shared, version, [](void* r) { return (*(Ready*)r)(); }, &ready);
}
/// After a change that somebody may wait for, made by an atomic exchange.
void announce(ObjectState& s, u64 address, bool shared);
/// Where threads know which version they wait for, only the one whose turn it is is woken: `waiters` is 1 + the least such version,
/// or 0, and `announce_release` looks there. Objects that processes share are announced to all.
void wait_for_version(Thread& t, ObjectState& s, u64 address, u64 version, bool (*ready)(void*), void* argument);
void wake_for_version(ObjectState& s, u64 address);
inline void announce_release(ObjectState& s, u64 address, bool shared) {
  u32 waiters = load(s.waiters);
  if (!waiters) return;
  if (shared) announce(s, address, shared);
  else if (waiters == (u32)s.version + 1) wake_for_version(s, address);
}
template <typename Ready>
void sleep_for_version(Thread& t, ObjectState& s, u64 address, u64 version, Ready& ready) {
  wait_for_version(t, s, address, version, [](void* r) { return (*(Ready*)r)(); }, &ready);
}
template <typename Ready>
void await_version(Thread& t, ObjectState& s, u64 address, bool shared, u64 version, Ready ready) {
  if (shared) return await(s, address, shared, version, ready);
  // Looking takes the object from the core of who has it: less often the more has to happen before. Sleeping takes longer than all of
  // the patience, unless what is waited for is far.
  constexpr u64 kPatience = 75, kPauses = 20, kFar = 2000, kSteps = 4;
  for (u64 i = 0; i < kPatience; ++i) {
    for (u64 pauses = 0; pauses < kPauses;) {
      if (ready()) return note_core(t);
      u64 left = version - load(s.version);
      if (left > kFar) return sleep_for_version(t, s, address, version, ready);
      for (u64 until = min(kPauses, pauses + 1 + left / kSteps); pauses < until; ++pauses) __builtin_ia32_pause();
    }
    let_others_run(t);
  }
  sleep_for_version(t, s, address, version, ready);
}

/// Waits for this thread's turn with the object, as `due` says, and takes it: `held` is not 0 while somebody has it.
template <typename Word>
void take_in_order(Thread& t, ObjectState& s, u64 address, bool shared, const Due& due, Word& held, Word value = 1) {
  refresh(t, s, shared);
  auto free = [&] { return !load(held); };
  if (!due.ordered) {
    if (s.last != t.me) diverge_owner(t, address, s.last);
    if (!free()) await_version(t, s, address, shared, s.version, free);
  } else {
    await_version(t, s, address, shared, due.version, [&] {
      u64 now = load(s.version);
      if ((i64)(now - due.version) > 0) diverge_order(t, address, "the lock was taken more often", (i64)due.version, (i64)now);
      return now == due.version && free();
    });
  }
  store(held, value);  // before the version: who waits for the next one looks at both
  s.last = t.me;
  if (is_indexed()) index_access(t, address, shared, s.version);
  store(s.version, s.version + 1);
  count_operation(t);
}

}  // namespace pastcone::runtime

// Lock streams: see objects.h for what is in them, entries.h for their bytes.
#include "call.h"
#include "objects.h"
#include "signal_frame.h"

namespace pastcone::runtime {
namespace {

// patch/fast_paths.S knows the chunk only by where its thread counts.
static_assert((int)offsetof(format::ChunkHeader, used) - (int)offsetof(format::ChunkHeader, operations) == CHUNK_USED);
static_assert(sizeof(format::ChunkHeader) - offsetof(format::ChunkHeader, operations) == CHUNK_BYTES);

/// Record: the lock stream goes on in its open chunk.
void write_to(Thread& t) {
  t.operations = &header_of(t.log.locks).operations;
  t.next_entry = format::kChunkRoom - kEntryRoom;
}

/// Record: room for one entry in the lock stream; false: nothing is recorded any more.
bool make_room(Thread& t) {
  Log& log = t.log;
  if (!log.off && log.locks.open && header_of(log.locks).used < t.next_entry) return true;
  t.own_operations = *t.operations;
  t.operations = &t.own_operations;
  t.next_entry = 0;
  if (log.off) return false;
  close_chunk(log.locks, false);
  if (!open_chunk(t, log.locks, format::Stream::kLocks, log.event_count)) {
    log.off = true;
    return false;
  }
  header_of(log.locks).operations = t.own_operations;
  write_to(t);
  return true;
}

void put(Window& w, u64 value) {
  for (; value >= 0x80; value >>= 7) w.base[w.at++] = (char)(value | 0x80);
  w.base[w.at++] = (char)value;
}

u64 unzigzag(u64 value) { return value >> 1 ^ -(value & 1); }

/// Replay: the next varint of the entry.
u64 read(Thread& t) {
  u64 value = 0;
  for (int shift = 0; shift < 64 && t.entry_after < t.entries_end; shift += 7) {
    auto b = (u8)*t.entry_after++;
    value |= (u64)(b & 0x7f) << shift;
    if (!(b & 0x80)) break;
  }
  return value;
}

/// Replay: finds out at which operation the next entry is.
void look_ahead(Thread& t) {
  t.entry_at = t.entry_after;
  t.entry_short = false;
  t.has_entry = t.entry_at < t.entries_end;
  if (!t.has_entry) {
    // If it was killed, the last operation may have its entry and not be counted.
    t.next_entry = t.all_operations = max(t.all_operations, t.read_entry ? t.last_entry + 1 : 0);
    return;
  }
  u64 skip = 0;
  if (u32 bytes = read_short(t.entry_at, (u64)(t.entries_end - t.entry_at), skip, t.entry_delta)) {
    t.entry_short = true;
    t.entry_kind = EntryKind::kAcquired;
    t.entry_after += bytes;
  } else {
    u64 head = read(t) >> kLongBits;
    t.entry_kind = (EntryKind)(head & 3);
    skip = head >> 2;
  }
  t.next_entry = t.last_entry + skip;
}

}  // namespace

/// From patch/fast_paths.S, which has taken the mutex of an entry.
extern "C" int runtime_look_ahead() {
  look_ahead(current());
  return 0;
}

u64& cached_version(Thread& t, u64 address) {
  VersionSeen& entry = version_slot(t, address);
  if (entry.address != address) entry = {address, 0};
  t.has_versions = true;
  return entry.version;
}

void open_lock_stream(Thread& t) {
  open_index(t);
  t.log.operations = t.log.last_entry = 0;
  resume_lock_stream(t);
}

void resume_lock_stream(Thread& t) {
  t.me = t.process->number << 16 | (t.number & 0xffff);
  t.operations = g.replay ? &slot_of(t).operations_done : &t.own_operations;
  *t.operations = t.log.operations;
  t.last_entry = t.log.last_entry;
  t.next_entry = 0;
  t.read_entry = false;  // in the child of a fork it is its parent's
  if (t.has_versions) for (auto& entry : t.versions) entry = {};
  t.has_versions = false;
  allow_fast_path(t);
  if (!t.process->parallel) return;
  if (!g.replay) {
    if (t.log.locks.open) write_to(t);
    else make_room(t);
    return;
  }
  t.all_operations = slot_of(t).operations;
  note_core(t);
  Window& w = t.log.locks;
  t.entry_after = w.base + w.at;
  t.entries_end = w.base + w.end;
  look_ahead(t);
}

void hand_over_lock_stream(Thread& t, Log& log) {
  log.operations = t.operations ? *t.operations : 0;
  log.last_entry = t.last_entry;
  if (g.replay) log.locks.at = (u64)(t.entry_at - log.locks.base);
}

void write_entry(Thread& t, EntryKind kind, u64 address, u64 version, long result) {
  if (!make_room(t)) return;
  Window& w = t.log.locks;
  w.at = sizeof(format::ChunkHeader) + header_of(w).used;  // patch/fast_paths.S writes here, too
  u64 operation = *t.operations, skip = operation - t.last_entry;
  t.last_entry = operation;
  bool acquired = kind != EntryKind::kResult, predicted = version == ~u64{0};
  i64 delta = 0;
  if (acquired && !predicted) {
    u64& known = cached_version(t, address);
    delta = (i64)(version - known);  // a new lock may lie where an old one did
    known = version;
  }
  u32 bytes = kind == EntryKind::kAcquired ? write_short(w.base + w.at, skip, delta) : 0;
  w.at += bytes;
  if (!bytes) {
    put(w, (skip << 2 | (u64)kind) << kLongBits | kLongMark);
    if (kind != EntryKind::kAcquired) put(w, zigzag(result));
    if (acquired) put(w, kind == EntryKind::kAcquired ? zigzag(delta) : predicted ? 0 : zigzag(delta) + 1);
  }
  store(header_of(w).used, (u32)(w.at - sizeof(format::ChunkHeader)));
}

void note_acquired(Thread& t, ObjectState& s, u64 address, bool shared, long result) {
  refresh(t, s, shared);
  u64 version = s.version++;
  write_entry(t, EntryKind::kBoth, address, s.last == t.me ? ~u64{0} : version, result);
  s.last = t.me;
  count_operation(t);
}

void note_result(Thread& t, long result) {
  write_entry(t, EntryKind::kResult, 0, 0, result);
  count_operation(t);
}

void take_signals_inside(Thread& t) {
  while (signals_inside(t)) {
    u64 at = t.log.events.at;
    t.log.read_byte();
    u64 operation = t.log.read_varint();
    t.log.events.at = at;
    if (operation != *t.operations) return;
    auto kind = t.object_kind;  // a handler may use others
    u64 caller = t.caller;
    runtime_signal_point();
    t.object_kind = kind;
    t.caller = caller;
  }
}

Due next_operation(Thread& t, u64 address) {
  take_signals_inside(t);
  return next_operation_unsignalled(t, address);
}

Due next_operation_unsignalled(Thread& t, u64 address) {
  if (*t.operations != t.next_entry) return {true, EntryKind::kAcquired, 0, false, 0};
  if (is_last_operation(t)) {
    if (slot_of(t).complete) diverge_additional(t, address);
    end_of_log(t, address);
  }
  Due due{false, t.entry_kind, 0, false, 0};
  t.last_entry = t.next_entry;
  t.read_entry = true;
  if (due.kind != EntryKind::kAcquired) {
    due.result = (long)unzigzag(read(t));
  }
  if (due.kind != EntryKind::kResult) {
    u64 delta = t.entry_short ? 1 + zigzag(t.entry_delta) : read(t) + (due.kind == EntryKind::kAcquired);
    due.ordered = delta != 0;
    if (due.ordered) due.version = cached_version(t, address) += unzigzag(delta - 1);
  }
  look_ahead(t);
  return due;
}

namespace {
bool is_address(long result) { return result > 0xffff; }

/// The result in the entry of the operation that comes next; 0 if it has none.
long peek_result(Thread& t) {
  if (*t.operations != t.next_entry || !t.has_entry || t.entry_kind == EntryKind::kAcquired) return 0;
  const char* after = t.entry_after;
  auto result = (long)unzigzag(read(t));
  t.entry_after = after;
  return result;
}
}  // namespace

bool is_cancelled_here(Thread& t) {
  long result = peek_result(t);
  return result == kCancelled || is_address(result);
}

bool ran_here(Thread& t, u64 address) { return peek_result(t) == (long)address; }

}  // namespace pastcone::runtime

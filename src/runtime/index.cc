#include "index.h"

#include "channels.h"
#include "growing_file.h"
#include "horizon.h"
#include "shared_places.h"
#include "waits.h"
#include "where.h"

namespace pastcone::runtime {
namespace {

using stage::IndexEntry;

// --- the file ----------------------------------------------------------------------------------------------------------------

/// Room for entries at the end of the thread's file, behind those that are there.
bool open_window(Thread& t) {
  char* window = map_window(t, "", stage::kIndexWindow, !t.index_end);
  if (!window) return false;
  if (t.index_end) far_unmap((char*)t.index_end - stage::kIndexWindow, stage::kIndexWindow);
  for (auto& held : t.held) held = {};  // their ends get entries of their own
  t.index = (IndexEntry*)window;
  t.index_end = (IndexEntry*)(window + stage::kIndexWindow);
  while (t.index < t.index_end && t.index->stamp) ++t.index;
  return t.index < t.index_end || open_window(t);
}

IndexEntry* next_entry(Thread& t) {
  if (t.index == t.index_end && !open_window(t)) return nullptr;
  return t.index++;
}

/// Where the thread will be when it has done this.
void place(Thread& t, IndexEntry& entry) {
  entry.step = t.step;
  entry.point = points_of(t) + 1;
}

/// What an object is called: its address, or what is the same in all processes that share it.
u64 name_of(Thread& t, stage::ObjectKind kind, u64 address, bool& shared) {
  if (kind == stage::ObjectKind::kHeap) {  // the child of a vfork uses its parent's
    shared = true;
    return address ^ (u64)t.heap_owner->process->number << 48;
  }
  u64 key = shared ? shared_key(t, address) : 0;
  shared = key;
  return key ? key : address;
}

void finish(IndexEntry& entry) { store(entry.stamp, add(g.stage.header().index_stamp, 1u) + 1); }

}  // namespace

IndexLock::IndexLock(Thread& t) : held_(is_indexed()) {
  if (held_) lock_shared(g.stage.header().index_lock, load(slot_of(t).tid));
}
IndexLock::~IndexLock() {
  if (held_) unlock_shared(g.stage.header().index_lock);
}

void open_index(Thread& t) {
  t.index = t.index_end = nullptr;
  open_where(t);
  for (SharedPlace& place : t.places) place = {};
  for (auto& held : t.held) held = {};
  for (u64& once : t.known_once) once = 0;
}

namespace {
void write_fact(Thread& t, stage::FactKind kind, u64 key, u64 number, u64 more, u64 point) {
  if (!is_indexed()) return;
  IndexEntry* entry = next_entry(t);
  if (!entry) return;
  entry->key = key;
  entry->kind = (u32)kind;
  entry->flags = stage::kIndexFact;
  entry->number = number;
  entry->caller = more;
  entry->event = t.log.event_count;
  entry->step = t.step;
  entry->point = point;
  finish(*entry);
}
}  // namespace

void index_fact(Thread& t, stage::FactKind kind, u64 key, u64 number, u64 more) { write_fact(t, kind, key, number, more, 0); }

void index_point(Thread& t, stage::FactKind kind, u64 key, u64 number) { write_fact(t, kind, key, number, 0, points_of(t)); }

void index_point_at(Thread& t, stage::FactKind kind, u64 address) {
  bool shared = t.process->shares;
  u64 key = is_indexed() ? name_of(t, stage::ObjectKind::kNone, address, shared) : 0;
  index_point(t, kind, key, shared);
}

namespace {
IndexEntry* write_access(Thread& t, u64 address, bool shared, u64 number, u64 writes, u32 flags, const char* name) {
  if (t.object_kind == stage::ObjectKind::kNone) return nullptr;
  u64 key = name_of(t, t.object_kind, address, shared);
  u32 kind = (u32)t.object_kind, shared_flag = shared ? stage::kIndexShared : 0;
  Thread& self = current();
  if (name && !number) {
    if (IndexEntry* entry = next_entry(self)) {
      entry->key = key;
      entry->kind = kind;
      entry->flags = stage::kIndexName | shared_flag;
      memcpy(entry->name, name, sizeof entry->name);
      finish(*entry);
    }
  }
  IndexEntry* entry = next_entry(self);
  if (!entry) return nullptr;
  entry->key = key;
  entry->kind = kind;
  entry->flags = flags | shared_flag;
  entry->number = number;
  entry->caller = t.caller;
  entry->event = self.log.event_count;
  entry->writes = writes;
  place(self, *entry);
  return entry;
}
}  // namespace

void index_access(Thread& t, u64 address, bool shared, u64 number) {
  index_access(t, address, shared, number, number, true);
}

void index_access(Thread& t, u64 address, bool shared, u64 number, u64 writes, bool write, const char* name) {
  IndexEntry* entry = write_access(t, address, shared, number, writes, write ? stage::kIndexWrite : 0, name);
  if (!entry) return;
  for (auto& held : current().held)
    if (!held.address) {
      held.address = address;
      held.entry = entry;
      break;
    }
  finish(*entry);
}

void index_instant(Thread& t, u64 address, bool shared, u64 number, u64 value, bool gives) {
  u32 flags = stage::kIndexWrite | (gives ? stage::kIndexGives : 0);
  IndexEntry* entry = write_access(t, address, shared, number, value, flags, nullptr);
  if (!entry) return;
  entry->until_step = entry->step;
  entry->until_point = entry->point;
  finish(*entry);
}

void index_release(Thread& t, stage::ObjectKind kind, u64 address, bool shared) {
  if (!is_indexed()) return;
  u64 point = points_of(t) + 1;
  for (auto& held : t.held)
    if (held.address == address) {
      held.entry->until_step = t.step;
      store(held.entry->until_point, point);
      held.address = 0;
      return;
    }
  u64 key = name_of(t, kind, address, shared);
  index_release_of(t, kind, key, shared);
}

void index_release_of(Thread& t, stage::ObjectKind kind, u64 key, bool shared) {
  if (!is_indexed()) return;
  IndexEntry* entry = next_entry(t);
  if (!entry) return;
  entry->key = key;
  entry->kind = (u32)kind;
  entry->flags = stage::kIndexRelease | (shared ? stage::kIndexShared : 0);
  entry->event = t.log.event_count;
  place(t, *entry);
  finish(*entry);
}

}  // namespace pastcone::runtime

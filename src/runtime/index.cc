#include "index.h"

#include "channels.h"
#include "shared_places.h"
#include "text.h"
#include "waits.h"
#include "where.h"

namespace pastcone::runtime {
namespace {

using stage::IndexEntry;

// --- the file ----------------------------------------------------------------------------------------------------------------

/// Room for entries at the end of the thread's file, behind those that are there.
bool open_window(Thread& t) {
  char path[320];
  Text(path, sizeof path) << g.stage.header().index_directory << "/" << t.process->number << "." << t.number;
  constexpr int kReadWrite = 2, kCreate = 0100, kCloseOnExec = 02000000;
  long fd = sys(__NR_open, path, kReadWrite | kCreate | kCloseOnExec, 0600);
  if (is_error(fd)) return false;
  Stat s{};
  sys(__NR_fstat, fd, &s);
  u64 begin = (u64)s.size;
  bool again = begin && !t.index_end;  // another image of this process had begun the last window
  if (again) begin -= stage::kIndexWindow;
  char* window = nullptr;
  if (again || !sys(__NR_ftruncate, fd, begin + stage::kIndexWindow))
    window = (char*)far_map(stage::kIndexWindow, kProtRead | kProtWrite, kMapShared, (int)fd, begin);
  sys(__NR_close, fd);
  if (!window) return false;
  if (t.index_end) far_unmap((char*)t.index_end - stage::kIndexWindow, stage::kIndexWindow);
  t.index = (IndexEntry*)window;
  t.index_end = (IndexEntry*)(window + stage::kIndexWindow);
  while (t.index < t.index_end && t.index->stamp) ++t.index;
  return t.index < t.index_end || open_window(t);
}

IndexEntry* next_entry(Thread& t) {
  if (t.index == t.index_end && !open_window(t)) return nullptr;
  return t.index++;
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
}

void index_fact(Thread& t, stage::FactKind kind, u64 key, u64 number, u64 more) {
  IndexEntry* entry = next_entry(t);
  if (!entry) return;
  entry->key = key;
  entry->kind = (u32)kind;
  entry->flags = stage::kIndexFact;
  entry->number = number;
  entry->caller = more;
  entry->event = t.log.event_count;
  finish(*entry);
}

void index_access(Thread& t, u64 address, bool shared, u64 number) {
  index_access(t, address, shared, number, number, true);
}

void index_access(Thread& t, u64 address, bool shared, u64 number, u64 writes, bool write, const char* name) {
  if (t.object_kind == stage::ObjectKind::kNone) return;
  u64 key = shared ? shared_key(t, address) : 0;
  if (!key) {
    shared = false;
    key = address;
  }
  u32 kind = (u32)t.object_kind, shared_flag = shared ? stage::kIndexShared : 0;
  if (name && !number) {
    if (IndexEntry* entry = next_entry(t)) {
      entry->key = key;
      entry->kind = kind;
      entry->flags = stage::kIndexName | shared_flag;
      memcpy(entry->name, name, sizeof entry->name);
      finish(*entry);
    }
  }
  IndexEntry* entry = next_entry(t);
  if (!entry) return;
  entry->key = key;
  entry->kind = kind;
  entry->flags = (write ? stage::kIndexWrite : 0) | shared_flag;
  entry->number = number;
  entry->caller = t.caller;
  entry->event = t.log.event_count;
  entry->writes = writes;
  finish(*entry);
}

}  // namespace pastcone::runtime

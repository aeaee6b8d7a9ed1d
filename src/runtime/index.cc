#include "index.h"

#include "channels.h"
#include "text.h"
#include "waits.h"

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

// --- what an object in shared memory is called by all who share it -----------------------------------------------------------

u32 map_changes;

u64 read_number(const char*& at, u64 base) {
  u64 value = 0;
  for (;; ++at) {
    u64 digit = *at >= '0' && *at <= '9' ? (u64)(*at - '0') : *at >= 'a' && *at <= 'f' ? (u64)(*at - 'a' + 10) : 99;
    if (digit >= base) return value;
    value = value * base + digit;
  }
}

/// "begin-end perms offset major:minor inode …"
bool read_line(const char* at, u64 page, u64& key) {
  u64 begin = read_number(at, 16);
  u64 end = read_number(++at, 16);
  if (page < begin || page >= end) return false;
  at += 6;
  u64 offset = read_number(at, 16), major = read_number(++at, 16), minor = read_number(++at, 16), inode = read_number(++at, 10);
  Hash h;
  h.mix(major << 32 | minor);
  h.mix(inode);
  h.mix(offset + page - begin);
  key = h.state;
  return true;
}

u64 find_key(Thread& t, u64 page) {
  char* text = t.spare;
  constexpr u64 kRoom = sizeof t.spare - 1;
  long fd = sys(__NR_open, "/proc/self/maps", 02000000, 0);
  if (is_error(fd)) return page;
  u64 key = page, kept = 0;
  for (bool found = false; !found;) {
    long n = sys(__NR_read, fd, text + kept, kRoom - kept);
    if (n <= 0) break;
    u64 size = kept + (u64)n, line = 0;
    for (u64 i = 0; i < size && !found; ++i)
      if (text[i] == '\n') {
        found = read_line(text + line, page, key);
        line = i + 1;
      }
    kept = size - line;
    if (kept == kRoom) break;
    memmove(text, text + line, kept);
  }
  sys(__NR_close, fd);
  return key;
}

u64 shared_key(Thread& t, u64 address) {
  u32 changes = load(map_changes);
  if (t.places_as_of != changes)
    for (SharedPlace& place : t.places) place = {};
  t.places_as_of = changes;
  u64 page = page_down(address);
  SharedPlace& place = t.places[page / kPage % kSharedPlaces];
  if (place.page != page) place = {page, find_key(t, page)};
  return place.key + address % kPage;
}

}  // namespace

IndexLock::IndexLock(Thread& t) : held_(is_indexed()) {
  if (held_) lock_shared(g.stage.header().index_lock, load(slot_of(t).tid));
}
IndexLock::~IndexLock() {
  if (held_) unlock_shared(g.stage.header().index_lock);
}

void open_index(Thread& t) {
  t.index = t.index_end = nullptr;
  for (SharedPlace& place : t.places) place = {};
}

void forget_shared_places() { add(map_changes, 1u); }

void index_access(Thread& t, u64 address, bool shared, u64 number) {
  index_access(t, address, shared, number, number, true);
}

void index_access(Thread& t, u64 address, bool shared, u64 number, u64 writes, bool write, const char* name) {
  if (t.object_kind == stage::ObjectKind::kNone) return;
  u64 key = shared ? shared_key(t, address) : address;
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

#include "shared_places.h"

#include "call.h"

namespace pastcone::runtime {
namespace {

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
  bool shared = at[4] == 's';
  at += 6;
  u64 offset = read_number(at, 16), major = read_number(++at, 16), minor = read_number(++at, 16), inode = read_number(++at, 10);
  Hash h;
  h.mix(major << 32 | minor);
  h.mix(inode);
  h.mix(offset + page - begin);
  key = shared ? h.state | 1 : 0;
  return true;
}

u64 find_key(Thread& t, u64 page) {
  char* text = t.spare;
  constexpr u64 kRoom = sizeof t.spare - 1;
  long fd = sys(__NR_open, "/proc/self/maps", 02000000, 0);
  // Who cannot ask has it where its parent had it.
  if (is_error(fd)) return is_shared_memory(page) ? page | 1 : 0;
  u64 key = 0, kept = 0;
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

TableState* shared_table() {
  static_assert(sizeof(TableState) == sizeof(stage::SharedObject));
  char* at = (char*)g.stage.shared_objects();
  return (TableState*)at;
}

}  // namespace

bool is_shared_memory(u64 address) {
  constexpr u64 kMayMove = 1, kFixed = 2;  // only what is shared can be mapped a second time
  u64 at = add(g.far_next, 2 * kPage);
  long again = sys(__NR_mremap, page_down(address), 0, kPage, kMayMove | kFixed, at);
  if (is_error(again)) return false;
  sys(__NR_munmap, again, kPage);
  return true;
}

void forget_shared_places() { add(map_changes, 1u); }

u64 shared_key(Thread& t, u64 address) {
  u32 changes = load(map_changes);
  if (t.places_as_of != changes)
    for (SharedPlace& place : t.places) place = {};
  t.places_as_of = changes;
  u64 page = page_down(address);
  SharedPlace& place = t.places[page / kPage % kSharedPlaces];
  if (place.page != page) place = {page, find_key(t, page)};
  return place.key ? place.key + address % kPage : 0;
}

Place place_of(Thread& t, u64 address) {
  u64 key = t.process->shares ? shared_key(t, address) : 0;
  if (!key) return {table_state(address), false};
  return {find_state(shared_table(), stage::kSharedObjects, key), true};
}

namespace {
template <typename IsEnding>
void release(TableState* table, u32 size, bool shared, IsEnding is_ending) {
  for (TableState* s = table; s < table + size; ++s) {
    u32 holder = load(s->holder);
    if (!holder || load(s->held) != kHeldRobust || !is_ending(holder)) continue;
    index_release_of(current(), stage::ObjectKind::kMutex, s->address, shared);
    store(s->holder, 0u);
    __atomic_exchange_n(&s->held, 0u, __ATOMIC_SEQ_CST);
    announce_release(*s, s->address, shared);
    pass_point(current());
  }
}
}  // namespace

void release_robust_of(Thread& t) {
  auto is_ending = [&](u32 holder) { return holder == t.me; };
  release(object_table, kTableSize, false, is_ending);
  if (t.process->shares) release(shared_table(), stage::kSharedObjects, true, is_ending);
}

void release_robust_of_process(Thread& t) {
  if (t.process->shares)
    release(shared_table(), stage::kSharedObjects, true, [&](u32 holder) { return holder >> 16 == t.process->number; });
}

}  // namespace pastcone::runtime

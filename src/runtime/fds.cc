#include "fds.h"

#include "addresses.h"
#include "facts.h"
#include "own_output.h"
#include "text.h"
#include "thread.h"

namespace pastcone::runtime {
namespace {

constexpr u32 kMostFds = 1 << 20;

FdTable& table() { return process().fds; }

void hold(const Fd& entry, int n) {
  if (!has_end(entry)) return;
  auto& connection = g.stage.connection(entry.object);
  if ((i32)add(connection.holders[entry.end], n) + n > 1 && n > 0) store(connection.shared[entry.end], 1u);
  if (!connection.name || g.replay || load(connection.holders[0]) || load(connection.holders[1])) return;
  if (find_address(connection.name) / 2 == entry.object) drop_address(connection.name);
  connection.name = 0;
}

bool make_room(FdTable& t, i64 fd) {
  if (fd < 0 || fd >= kMostFds) return false;
  if (fd < t.size) return true;
  u32 size = max<u32>(t.size * 2, 512);
  while (size <= fd) size *= 2;
  auto* bigger = (Fd*)far_map(size * sizeof(Fd), kProtRead | kProtWrite, kMapPrivate | kMapAnonymous, -1, 0);
  if (!bigger) return false;
  if (t.of) {
    memcpy(bigger, t.of, t.size * sizeof(Fd));
    far_unmap(t.of, t.size * sizeof(Fd));
  }
  t.of = bigger;
  t.size = size;
  return true;
}

}  // namespace

Fd get_fd(i64 fd) {
  FdTable& t = table();
  return fd >= 0 && fd < t.size ? t.of[fd] : Fd{};
}

void set_fd_raw(i64 fd, const Fd& entry) {
  if (make_room(table(), fd)) table().of[fd] = entry;
}

void set_fd(i64 fd, const Fd& entry) {
  if (!make_room(table(), fd)) return;
  note_dropped(table().of[fd]);
  hold(table().of[fd], -1);
  hold(entry, 1);
  table().of[fd] = entry;
}

void close_fd(i64 fd) { set_fd(fd, Fd{}); }

void copy_fd(i64 from, i64 to, bool cloexec) {
  Fd entry = get_fd(from);
  entry.cloexec = cloexec;
  set_fd(to, entry);
}

void set_cloexec(i64 fd, bool on) {
  FdTable& t = table();
  if (fd >= 0 && fd < t.size) t.of[fd].cloexec = on;
}

void hold_all_fds(int direction) {
  FdTable& t = table();
  for (u32 i = 0; i < t.size; ++i) hold(t.of[i], direction);
}

FdTable clone_fds(const FdTable& from) {
  FdTable copy{};
  if (from.size && make_room(copy, from.size - 1)) memcpy(copy.of, from.of, from.size * sizeof(Fd));
  return copy;
}

void free_fds(FdTable& t) {
  if (t.of) far_unmap(t.of, t.size * sizeof(Fd));
  t = FdTable{};
}

void scan_fds() {
  for (int fd = 0; fd < 256; ++fd) {
    long flags = sys(__NR_fcntl, fd, 1, 0);  // F_GETFD
    if (is_error(flags) || is_own_fd(fd)) continue;
    Stat s{};
    sys(__NR_fstat, fd, &s);
    Fd entry{};
    entry.kind = (s.mode & kModeType) == kModeRegular ? FdKind::kFile : FdKind::kOther;
    entry.cloexec = flags & 1;
    long mode = sys(__NR_fcntl, fd, 3, 0);  // F_GETFL
    if (mode & 3) entry.flags |= kFdWritable;
    if (mode & 04000) entry.flags |= kFdNonBlocking;
    if (fd == 1 || fd == 2) {
      entry.kind = FdKind::kOutput;
      entry.end = (u8)fd;
      note_output(fd);
    }
    set_fd_raw(fd, entry);
  }
}

}  // namespace pastcone::runtime

// Calls that make, copy and close descriptors.
#include "channels.h"
#include "fifos.h"
#include "files.h"
#include "handlers.h"
#include "meetings.h"
#include "own_output.h"
#include "text.h"

namespace pastcone::runtime {
namespace {

constexpr u64 kCloexec = 02000000, kNonBlock = 04000, kDirect = 040000, kDirectory = 0200000, kPathOnly = 010000000, kWriteOnly = 1;
constexpr i64 kCurrentDirectory = -100;

constexpr int kOwnFds = stage::kFdStore;  ///< how many of ours there are while recording

/// Our own descriptors are not there, as far as the program can see.
bool hides(i64 fd) { return !g.replay && fd >= g.fd_base && fd < g.fd_base + kOwnFds && get_fd(fd).kind == FdKind::kClosed; }

long not_there(Call&) { return -EBADF; }

void opened_outs(Exchange& x, const u64*, long) { x.out((u64)x.call().t.passed, sizeof(Fd)); }

/// The descriptor that was just opened is more than a file: what `entry` says is part of the recording.
void record_opened(Call& c, long result, const Fd& entry) {
  c.t.passed[0] = entry;
  Exchange x(c, false, nullptr, 0);
  opened_outs(x, c.a, result);
  begin_item(c, Shape::kOpen);
  c.log().varint(has_end(entry) ? entry.object * 2 + entry.end + 1 : 0);
  c.log().zigzag(result);
  c.log().varint(x.count());
  finish_item(c);
}

/// Either of them, and what was opened.
long finish_open(Call& c, Fd& entry) {
  if (expect_item(c, 1 << (int)Shape::kResult | 1 << (int)Shape::kOpen) == Shape::kOpen) {
    c.log().read_varint();
    long result = finish_out(c, opened_outs);
    entry = c.t.passed[0];
    return result;
  }
  long result = c.log().read_zigzag();
  expect_check(c);
  return result;
}

/// Who wants to write to a file that is read by reference waits until the recorder has a copy. With O_NONBLOCK the kernel does
/// not wait (EAGAIN), which would not have happened natively.
bool wait_for_copy(Call& c, u64 flags) {
  if (!(flags & kNonBlock) || !(flags & 3)) return false;
  int at = c.number == __NR_open || c.number == __NR_creat ? 0 : 1;
  u64 directory = at ? c.a[0] : (u64)kCurrentDirectory, path = c.a[at];
  Stat s{};
  if (sys(__NR_newfstatat, directory, path, &s, 0) || !is_read_by_reference(s)) return false;
  long fd = sys(__NR_openat, directory, path, kWriteOnly | kCloexec, 0);
  if (!is_error(fd)) sys(__NR_close, fd);
  return !is_error(fd);
}

}  // namespace

long handle_open(Call& c) {
  u64 flags = 0;
  switch (c.number) {
    case __NR_open: flags = c.a[1]; break;
    case __NR_openat: flags = c.a[2]; break;
    case __NR_creat: flags = 01 | 0100 | 01000; break;
    default: read_memory(flags, c.a[2]); break;
  }
  auto execute = [](Call& call) -> long {
    // The runtime is what the kernel thinks we run: the program means itself.
    int at = call.number == __NR_open ? 0 : 1;
    char path[20];
    if (call.number != __NR_creat && string_length(call.a[at], 16) == 14 && read_memory(path, call.a[at], 15) &&
        equal(path, "/proc/self/exe")) {
      u64 open_flags = call.a[at + 1], mode = call.a[at + 2];
      return sys(__NR_open, process().program, open_flags, mode);
    }
    return raw_blocking(call);  // a FIFO may wait for its other end
  };
  Fd entry{};
  entry.kind = FdKind::kFile;  // what it really is matters only where bytes can be had by reference, or from their writer
  entry.cloexec = flags & kCloexec;
  entry.flags = (u8)((flags & 3 ? kFdWritable : 0) | (flags & kNonBlock ? kFdNonBlocking : 0));
  bool first = c.number == __NR_open || c.number == __NR_creat;
  u64 directory = first ? (u64)kCurrentDirectory : c.a[0], path = c.a[first ? 0 : 1];
  auto is_output = [&](const Fd& known) {
    bool is = known.kind == FdKind::kOutput && (flags & 3);
    if (is) entry.kind = known.kind, entry.end = known.end;
    return is;
  };
  bool output = is_output(get_fd(descriptor_named(path)));
  long result;
  if (g.replay) {
    result = finish_open(c, entry);
  } else {
    result = execute(c);
    if (result == -EAGAIN && wait_for_copy(c, flags)) result = execute(c);
    bool plain = is_error(result) || output || flags & (kDirectory | kPathOnly);
    bool found = !plain && flags & 3 && is_output(find_output((int)result, directory, path));
    if (found || (!plain && find_fifo((int)result, entry))) record_opened(c, result, entry);
    else record_result(c, result);
  }
  if (is_error(result)) return result;
  set_fd(result, entry);
  return result;
}

long handle_new_fd(Call& c) {
  long result = logged(c, raw, nullptr);
  if (is_error(result)) return result;
  Fd entry{};
  entry.kind = c.number == __NR_memfd_create ? FdKind::kFile : FdKind::kOther;
  entry.flags = kFdWritable;
  u64 flags = 0;
  switch (c.number) {
    case __NR_eventfd2: case __NR_timerfd_create: flags = c.a[1]; break;
    case __NR_epoll_create1: case __NR_inotify_init1: flags = c.a[0]; break;
    case __NR_memfd_create: flags = c.a[1] & 1 ? kCloexec : 0; break;
    case __NR_pidfd_open: case __NR_mq_open: flags = kCloexec; break;
    default: break;
  }
  if (c.number == __NR_eventfd || c.number == __NR_eventfd2) {
    entry.flags |= kFdEvent;
    if (!g.replay) entry.object = new_meeting(c.t);
  }
  if (g.replay && c.number == __NR_pidfd_open) entry.object = (u32)c.a[0];
  entry.cloexec = flags & kCloexec;
  set_fd(result, entry);
  return result;
}

long handle_signalfd(Call& c) {
  long result = logged(c, raw, nullptr);
  if (is_error(result) || (i32)c.a[0] >= 0) return result;
  Fd entry{};
  entry.kind = FdKind::kOther;
  entry.cloexec = c.number == __NR_signalfd4 && (c.a[3] & kCloexec);
  set_fd(result, entry);
  return result;
}

long handle_close(Call& c) {
  long result = logged(c, hides(c.fd()) ? not_there : raw, nullptr);
  if (!is_error(result) || result == -EINTR || result == -EIO) close_fd(c.fd());
  return result;
}

long handle_close_range(Call& c) {
  u64 first = (u32)c.a[0], last = (u32)c.a[1], flags = c.a[2];
  auto execute = [](Call& call) -> long {
    u64 from = (u32)call.a[0], to = (u32)call.a[1], how = call.a[2];
    u64 ours = (u64)g.fd_base, end = ours + kOwnFds;
    if (from > to || to < ours || from >= end) return raw(call);
    long result = 0;
    if (from < ours) result = sys(__NR_close_range, from, ours - 1, how);
    for (u64 fd = max(from, ours); fd < end && fd <= to; ++fd)
      if (!hides((i64)fd)) sys(__NR_close_range, fd, fd, how & ~2ul);
    if (to >= end) result = sys(__NR_close_range, end, to, how & ~2ul);
    return result;
  };
  long result = logged(c, execute, nullptr);
  if (is_error(result)) return result;
  u64 size = c.t.process->fds.size;
  for (u64 fd = first; fd <= last && fd < size; ++fd) {
    if (flags & 4) set_cloexec((i64)fd, true);
    else close_fd((i64)fd);
  }
  return result;
}

namespace {

bool is_free(i64 fd) { return get_fd(fd).kind == FdKind::kClosed && sys(__NR_fcntl, fd, 1, 0) == -EBADF; }

/// The program wants the number of one of our descriptors: they move to others, as high as can be. Not in a child that is
/// still in its parent's memory: the parent's descriptors stay where they are.
void make_way(Process& p, i64 wanted) {
  if (p.vforked || p.in_parents_memory) return;
  struct { u64 soft, hard; } limit{};
  sys(__NR_prlimit64, 0, 7, 0, &limit);  // RLIMIT_NOFILE
  for (i64 base = (i64)min<u64>(limit.soft, 65536) - kOwnFds; base > 2; --base) {
    bool fits = wanted < base || wanted >= base + kOwnFds;
    for (int i = 0; i < kOwnFds && fits; ++i) fits = is_free(base + i);
    if (!fits) continue;
    for (int i = 0; i < kOwnFds; ++i) sys(__NR_dup2, own_fd(i), base + i);
    for (int i = 0; i < kOwnFds; ++i) sys(__NR_close, own_fd(i));
    g.fd_base = (int)base;
    return;
  }
}

}  // namespace

long handle_dup(Call& c) {
  bool onto = c.number != __NR_dup;
  if (onto && hides((i32)c.a[1]) && !hides(c.fd())) make_way(*c.t.process, (i32)c.a[1]);
  bool refused = hides(c.fd()) || (onto && hides((i32)c.a[1]));
  long result = logged(c, refused ? not_there : raw, nullptr);
  if (is_error(result) || result == c.fd()) return result;
  copy_fd(c.fd(), result, c.number == __NR_dup3 && (c.a[2] & kCloexec));
  return result;
}

long handle_fcntl(Call& c) {
  i64 fd = c.fd();
  int command = (i32)c.a[1];
  if (hides(fd)) return logged(c, not_there, c.info.outs);
  bool waits = command == 7 || command == 38;  // F_SETLKW, F_OFD_SETLKW
  long result = logged(c, waits ? raw_blocking : raw, c.info.outs);
  if (is_error(result)) return result;
  switch (command) {
    case 0: copy_fd(fd, result, false); break;     // F_DUPFD
    case 1030: copy_fd(fd, result, true); break;   // F_DUPFD_CLOEXEC
    case 2: set_cloexec(fd, c.a[2] & 1); break;    // F_SETFD
    case 4: {                                      // F_SETFL
      Fd entry = get_fd(fd);
      entry.flags = (u8)((entry.flags & ~kFdNonBlocking) | (c.a[2] & kNonBlock ? kFdNonBlocking : 0));
      set_fd_raw(fd, entry);
      // A pipe that is turned to packets loses bytes that are not read with theirs: from now on its reader stores them.
      if (!g.replay && (c.a[2] & kDirect) && entry.kind == FdKind::kConnection) {
        auto& direction = direction_of(entry.object * 2);
        store(direction.outside_from, load(direction.received));
      }
      break;
    }
    default: break;
  }
  return result;
}

long handle_ioctl(Call& c) {
  long result = logged(c, hides(c.fd()) ? not_there : raw, c.info.outs);
  if (is_error(result)) return result;
  if (c.a[1] == 0x5451) set_cloexec(c.fd(), true);   // FIOCLEX
  if (c.a[1] == 0x5450) set_cloexec(c.fd(), false);  // FIONCLEX
  return result;
}

long handle_readlink(Call& c) {
  auto execute = [](Call& call) -> long {
    int at = call.number == __NR_readlink ? 0 : 1;
    char path[20];
    if (string_length(call.a[at], 16) == 14 && read_memory(path, call.a[at], 15) && equal(path, "/proc/self/exe")) {
      char answer[300];
      Text text(answer, sizeof answer);
      text << process().program;
      if (sys(__NR_access, process().program, 0) == -ENOENT) text << " (deleted)";
      u64 n = min<u64>(text.size(), call.a[at + 2]);
      return write_memory(call.a[at + 1], answer, n) ? (long)n : -EFAULT;
    }
    return raw(call);
  };
  return logged(c, execute, c.info.outs);
}

}  // namespace pastcone::runtime

#include "facts.h"

#include "index.h"

namespace pastcone::runtime {
namespace {

using stage::FactKind;

constexpr u64 kMostPolled = 1 << 16;  // descriptors in one call

/// The channel that a descriptor sends on, and the one it receives from.
u64 sends_on(const Fd& fd) { return fd.kind == FdKind::kFifo ? u64{fd.object} * 2 : u64{fd.object} * 2 + fd.end; }
u64 receives_from(const Fd& fd) { return fd.kind == FdKind::kFifo ? u64{fd.object} * 2 : (u64{fd.object} * 2 + fd.end) ^ 1; }

/// What becomes ready with it; 0: nothing that others do.
u64 source_of(const Fd& fd) {
  if (has_end(fd)) return receives_from(fd);
  if (fd.kind == FdKind::kOther && fd.object) return stage::kProcess | fd.object;
  return fd.kind == FdKind::kSocket && fd.object ? stage::kListener | fd.object : 0;
}
u64 source_of(i64 number) { return source_of(get_fd(number)); }

constexpr u32 kIn = 0x1, kError = 0x8, kHangUp = 0x10, kInNormal = 0x40, kReadHangUp = 0x2000;  // POLLIN and so on
constexpr u32 kReadable = kIn | kHangUp | kInNormal | kReadHangUp, kOver = kHangUp | kReadHangUp;

void note_ready(Thread& t, i64 fd, u32 over = 0) {
  if (u64 source = source_of(fd)) index_fact(t, FactKind::kReady, source, (u64)fd, over);
}

/// Nobody is at the other side any more.
void note_broken(Thread& t, const Fd& fd, u64 error) {
  if (fd.kind == FdKind::kConnection || fd.kind == FdKind::kSequence) index_fact(t, FactKind::kEndOfFile, receives_from(fd), error);
}

void note_polled(Call& c) {
  struct { i32 fd; u16 events, ready; } each;
  for (u64 i = 0; i < min(c.a[1], kMostPolled); ++i) {
    if (!read_memory(each, c.a[0] + i * sizeof each)) continue;
    if (each.ready & kReadable) note_ready(c.t, each.fd, each.ready & kOver);
    if (each.ready & kError) note_broken(c.t, get_fd(each.fd), EPIPE);
  }
}

void note_selected(Call& c) {
  u64 word;
  for (u64 i = 0; i < min((u64)(u32)c.a[0], u64{1024}) && c.a[1]; i += 64) {
    if (!read_memory(word, c.a[1] + i / 8)) return;
    for (; word; word &= word - 1) note_ready(c.t, (i64)(i + (u64)__builtin_ctzll(word)));
  }
}

struct [[gnu::packed]] EpollEvent {
  u32 events;
  u64 data;
};

void note_epoll(Call& c, long count) {
  EpollEvent event;
  for (long i = 0; i < count; ++i)
    if (read_memory(event, c.a[1] + (u64)i * sizeof event) && event.events & kReadable)
      index_fact(c.t, FactKind::kPolled, event.events & kOver, event.data, (u32)c.a[0]);
}

void note_watched(Call& c) {
  constexpr u64 kDelete = 2;
  constexpr u32 kToRead = 0x1 | 0x2 | 0x40 | 0x80 | 0x2000;  // EPOLLIN, PRI, RDNORM, RDBAND, RDHUP
  u64 source = source_of((i32)c.a[2]);
  EpollEvent event{};
  bool watched = c.a[1] != kDelete && read_memory(event, c.a[3]);
  if (watched) index_fact(c.t, FactKind::kWatched, source, event.data, (u32)c.a[0]);
  if (source && !(event.events & kToRead)) index_fact(c.t, FactKind::kUnwatched, source, 0, (u32)c.a[0]);
}

/// The last descriptor of its process that something could be had from is closed.
void note_unwatched(const Fd& entry) {
  u64 source = source_of(entry);
  const FdTable& table = process().fds;
  for (u32 i = 0; source && i < table.size; ++i)
    if (&table.of[i] != &entry && source_of(table.of[i]) == source) return;
  if (source) index_fact(current(), FactKind::kUnwatched, source, 0, stage::kEveryWatcher);
}

void note_listener(Call& c) {
  Fd fd = get_fd(c.fd());
  if (fd.kind != FdKind::kSocket) return;
  if (!fd.object) {
    fd.object = (u32)add(g.stage.header().index_stamp, 1u) + 1;  // a number that nobody has; copies of the descriptor keep it
    set_fd_raw(c.fd(), fd);
  }
  index_fact(c.t, FactKind::kListens, stage::kListener | fd.object);
}

bool wants_bytes(const Call& c) {
  struct { u64 base, length; } part;
  u64 vector = c.a[1], count = c.a[2];
  switch (c.number) {
    case __NR_read: case __NR_recvfrom: return c.a[2];
    case __NR_recvmsg: {
      struct { u64 name; u32 name_length, pad; u64 parts, count; } message{};
      if (!read_memory(message, c.a[1])) return false;
      vector = message.parts;
      count = message.count;
      [[fallthrough]];
    }
    case __NR_readv:
      for (u64 i = 0; i < min(count, u64{1024}); ++i)
        if (read_memory(part, vector + i * sizeof part) && part.length) return true;
      return false;
    default: return false;
  }
}

void note_received(Call& c, long result) {
  Fd fd = get_fd(c.fd());
  bool stream = fd.kind == FdKind::kConnection || fd.kind == FdKind::kFifo || fd.kind == FdKind::kSequence;
  if (!result && stream && wants_bytes(c)) index_fact(c.t, FactKind::kEndOfFile, receives_from(fd));
}

void note_opened(Thread& t, i64 number) {
  if (Fd fd = get_fd(number); fd.kind == FdKind::kFifo) index_fact(t, FactKind::kFifo, receives_from(fd));
}

void note_pipe(Call& c) {
  i32 ends[2];
  if (read_memory(ends, c.a[0], sizeof ends)) note_opened(c.t, ends[0]);
}

void note_given_up(const Fd& entry) {
  if (!has_end(entry) || entry.kind == FdKind::kDatagram) return;
  if (entry.kind == FdKind::kFifo && !(entry.flags & kFdWritable)) return;
  index_fact(current(), FactKind::kDropped, sends_on(entry));
}

void note_shut_down(Call& c) {
  Fd fd = get_fd(c.fd());
  constexpr u64 kReadSide = 0, kWriteSide = 1;
  if (!has_end(fd)) return;
  if (c.a[1] != kReadSide) index_fact(c.t, FactKind::kShutDown, sends_on(fd));
  if (c.a[1] != kWriteSide) index_fact(c.t, FactKind::kShutDown, receives_from(fd), 1);
}

void note_failed(Call& c, u64 error) {
  switch (c.number) {
    case __NR_read: case __NR_readv: case __NR_recvfrom: case __NR_recvmsg: case __NR_recvmmsg:
    case __NR_write: case __NR_writev: case __NR_sendto: case __NR_sendmsg: case __NR_sendmmsg:
      if (error == EPIPE || error == ECONNRESET) note_broken(c.t, get_fd(c.fd()), error);
      return;
    default: return;
  }
}

}  // namespace

void note_facts(Call& c, long result) {
  if (is_error(result)) return note_failed(c, (u64)-result);
  Thread& t = c.t;
  switch (c.number) {
    case __NR_read: case __NR_readv: case __NR_recvfrom: case __NR_recvmsg: return note_received(c, result);
    case __NR_open: case __NR_openat: case __NR_openat2: case __NR_creat: return note_opened(t, result);
    case __NR_pipe2: return note_pipe(c);
    case __NR_shutdown: return note_shut_down(c);
    case __NR_poll: case __NR_ppoll: return note_polled(c);
    case __NR_select: case __NR_pselect6: return note_selected(c);
    case __NR_epoll_wait: case __NR_epoll_pwait: case __NR_epoll_pwait2: return note_epoll(c, result);
    case __NR_epoll_create: case __NR_epoll_create1: return index_fact(t, FactKind::kWatcher, 0, 0, (u64)result);
    case __NR_epoll_ctl: return note_watched(c);
    case __NR_listen: return note_listener(c);
    case __NR_accept: case __NR_accept4:
      if (u64 listener = source_of(c.fd())) index_fact(t, FactKind::kAccepted, listener);
      return;
    case __NR_kill: case __NR_rt_sigqueueinfo: return index_fact(t, FactKind::kKilled, (u64)(i64)(i32)c.a[0], c.a[1]);
    case __NR_tgkill: case __NR_rt_tgsigqueueinfo: return index_fact(t, FactKind::kKilled, (u64)(i64)(i32)c.a[0], c.a[2]);
    default: return;
  }
}

void note_dropped(const Fd& entry) {
  if (!is_indexed()) return;
  note_unwatched(entry);
  note_given_up(entry);
}

void note_all_dropped(Thread& t) {
  const FdTable& table = t.process->fds;
  for (u32 i = 0; is_indexed() && i < table.size; ++i) note_given_up(table.of[i]);
}

}  // namespace pastcone::runtime

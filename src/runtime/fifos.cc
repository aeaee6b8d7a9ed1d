#include "fifos.h"

#include "addresses.h"
#include "channels.h"
#include "messages.h"
#include "shared_files.h"
#include "store.h"
#include "waits.h"

namespace pastcone::runtime {
namespace {

constexpr u64 kAtomic = 4096;        // PIPE_BUF
constexpr u64 kPiece = 32 * 1024;

/// The window of a FIFO, locked. Two may have the same one: then the later one's bytes are known, and the other's not.
class LastWritten {
 public:
  LastWritten(const Fd& fd, u32 tid)
      : window_(g.stage.window(g.stage.connection(fd.object).window)), direction_(direction_of(fd.object * 2)),
        lock_(window_.lock, tid) {
    if (window_.owner == fd.object) return;
    window_.owner = fd.object;
    window_.from = window_.until = direction_.sent;
  }

  /// Writing is done in steps, since we may be killed at any: bytes get positions, these are logged, then they can be found.
  u64 reserve(u64 n) {
    u64 position = direction_.sent, end = position + n;
    if (window_.until != position) window_.from = position;  // somebody was
    store(window_.from, max(window_.from, end > stage::kWindowBytes ? end - stage::kWindowBytes : 0));
    store(direction_.sent, end);
    return position;
  }
  void fill(u64 position, const Buffers& buffers, u64 n) {
    u64 at = position;
    each_part(buffers, n, [&](u64 base, u64 length) {
      for (u64 done = 0; done < length;) {
        u64 part = min(length - done, stage::kWindowBytes - at % stage::kWindowBytes);
        bool there = read_memory(window_.bytes + at % stage::kWindowBytes, base + done, part);
        if (!there) window_.from = position + n;  // what lies here now are not these bytes
        done += part;
        at += part;
      }
    });
    store(window_.until, position + n);
  }

  /// Where the n bytes in `buffers` were written: after those that were read last, or else wherever they are found.
  bool find(const Buffers& buffers, u64 n, u64& position) {
    u64 first = window_.from, end = window_.until;
    if (end < n || end - n < first) return false;
    u64 next = min(max(direction_.received, first), end - n + 1);
    char head = 0;
    each_part(buffers, 1, [&](u64 base, u64) { read_memory(head, base); });
    auto look = [&](u64 begin, u64 last) {
      for (u64 at = begin; at < last; ++at)
        if (window_.bytes[at % stage::kWindowBytes] == head && is_at(at, buffers, n)) {
          position = at;
          direction_.received = at + n;
          return true;
        }
      return false;
    };
    return look(next, end - n + 1) || look(first, next);
  }

 private:
  bool is_at(u64 at, const Buffers& buffers, u64 n) {
    bool same = true;
    each_part(buffers, n, [&](u64 base, u64 length) {
      char bytes[512];
      for (u64 done = 0; same && done < length;) {
        u64 part = min(min(length - done, sizeof bytes), stage::kWindowBytes - at % stage::kWindowBytes);
        if (!done) part = min<u64>(part, 16);  // mostly that is enough to see a difference
        same = read_memory(bytes, base + done, part) && !memcmp(bytes, window_.bytes + at % stage::kWindowBytes, part);
        done += part;
        at += part;
      }
    });
    return same;
  }

  stage::FifoWindow& window_;
  stage::Direction& direction_;
  SharedLock lock_;
};

/// The call with the first n bytes only.
long write_part(Call& c, Buffers& buffers, u64 n) {
  if (n == buffers.total) return blocking(c.t, __NR_writev, c.a[0], (u64)buffers.of, buffers.count);
  Iovec part[64];
  u32 count = 0;
  each_part(buffers, n, [&](u64 base, u64 length) {
    if (count < 64) part[count++] = {base, length};
  });
  return blocking(c.t, __NR_writev, c.a[0], (u64)part, count);
}

/// How much of it to write at once: no more than 64 parts of it if it is not all.
u64 piece_of(const Fd& fd, const Buffers& buffers) {
  // What several write may arrive in another order than it was begun; pieces of this size at least stay whole.
  u64 most = is_shared(fd) ? kAtomic : kPiece;
  if (buffers.total <= most) return buffers.total;
  u64 n = 0;
  for (u32 i = 0, parts = 0; i < buffers.count && parts < 64 && n < most; ++i) {
    n += min(buffers.of[i].length, most - n);
    parts += buffers.of[i].length > 0;
  }
  return n;
}

/// Without waiting: all under the lock, and what is logged is what went.
long send_at_once(Call& c, const Fd& fd, Buffers& buffers) {
  LastWritten window(fd, c.t.tid);
  long result = sys(__NR_writev, c.a[0], buffers.of, buffers.count);
  u64 sent = result > 0 ? (u64)result : 0;
  u64 position = window.reserve(sent);
  write_offset(c.log(), position);
  write_send(c, channel_sent(fd), sent);
  window.fill(position, buffers, sent);
  if (result < 0) record_correction(c, result);
  return result;
}

}  // namespace

u32 new_fifo() {
  u32 number = new_connection(stage::ConnectionKind::kFifo, true);
  if (number) g.stage.connection(number).window = add(g.stage.header().next_window, 1u);
  return number;
}

bool find_fifo(int fd, Fd& entry) {
  Stat s{};
  if (sys(__NR_fstat, fd, &s) || (s.mode & kModeType) != kModeFifo) return false;
  entry.end = (sys(__NR_fcntl, fd, 3, 0) & 3) == 0;  // who only reads is end 1
  FdTable& table = process().fds;
  for (u32 i = 0; i < table.size; ++i) {
    // /dev/fd/N: one of our own, once more.
    Stat own{};
    FdKind kind = table.of[i].kind;
    if (kind != FdKind::kConnection && kind != FdKind::kFifo) continue;
    if (sys(__NR_fstat, i, &own) || own.dev != s.dev || own.ino != s.ino) continue;
    entry.kind = kind;
    entry.object = table.of[i].object;
    return true;
  }
  // It keeps its number when all have closed it: one that has opened it may not have come here yet.
  u64 key = address_key(KeyOf::kFifo, file_identity(fd, s));
  SharedLock lock(g.stage.header().fifo_lock, current().tid);
  u32 number = find_address(key) / 2;
  if (!number) {
    number = new_fifo();
    if (!number) return false;
    put_address(key, number * 2);
  }
  entry.kind = FdKind::kFifo;
  entry.object = number;
  return true;
}

long record_fifo_send(Call& c, const Fd& fd, Buffers& buffers) {
  if (is_nonblocking(c)) return send_at_once(c, fd, buffers);
  u64 done = 0;
  for (;;) {
    u64 piece = piece_of(fd, buffers);
    {
      LastWritten window(fd, c.t.tid);
      u64 position = window.reserve(piece);
      write_offset(c.log(), position);
      write_send(c, channel_sent(fd), piece);
      window.fill(position, buffers, piece);
    }
    c.t.head_written = true;
    long result = restarting(c, [&] { return write_part(c, buffers, piece); });
    c.t.head_written = false;
    bool more = result == (long)piece && piece < buffers.total;
    if (more) record_correction(c, kContinue - result);
    else if (result != (long)piece) record_correction(c, result);
    if (!more) return is_error(result) && done ? (long)done : (long)done + result;
    done += piece;
    buffers.skip(piece);
  }
}

long record_fifo_receive(Call& c, const Fd& fd, Buffers& buffers) {
  long result = raw_blocking(c);
  u64 position = 0;
  if (result > 0 && LastWritten(fd, c.t.tid).find(buffers, (u64)result, position)) {
    write_offset(c.log(), position);
    write_receive(c, channel_received(fd), result);
  } else {
    record_result(c, result, stored_outs);
  }
  return result;
}

// --- the store ---------------------------------------------------------------------------------------------------------------

void store_piece(Thread& t, u32 channel, u64 position, const Buffers& buffers, u64 n) {
  write_store(t, channel, position, buffers, n, true);
  mark_store(t, channel, position, n);
  publish(g.stage.connection(channel / 2));
}

void fetch_piece(Thread& t, u32 channel, u64 position, const Buffers& buffers, u64 n) {
  u64 there = 0;  // so many of them
  wait_for(g.stage.connection(channel / 2), stage::WaitKind::kPacket, channel, position, [&] {
    there += marked_in_store(t, channel, position + there, n - there);
    return there == n;
  });
  read_store(t, channel, position, buffers, n);
}

}  // namespace pastcone::runtime

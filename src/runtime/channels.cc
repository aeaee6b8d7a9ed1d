#include "channels.h"

#include "fifos.h"
#include "messages.h"
#include "store.h"
#include "turn.h"
#include "waits.h"

namespace pastcone::runtime {
namespace {

constexpr u32 kLockWanted = u32{1} << 31;  ///< in a lock's word: somebody sleeps for it

bool is_socket_call(u32 number) {
  return number == __NR_sendto || number == __NR_recvfrom || number == __NR_sendmsg || number == __NR_recvmsg ||
         number == __NR_sendmmsg || number == __NR_recvmmsg;
}

}  // namespace

u64 message_flags(Call& c) {
  switch (c.number) {
    case __NR_sendto: case __NR_recvfrom: case __NR_sendmmsg: case __NR_recvmmsg: return c.a[3];
    case __NR_sendmsg: case __NR_recvmsg: return c.a[2];
    default: return 0;
  }
}

bool is_shared(const Fd& fd) { return load(g.stage.connection(fd.object).holders[fd.end]) > 1; }

bool is_nonblocking(Call& c) {
  return (message_flags(c) & kDontWait) || (sys(__NR_fcntl, c.fd(), 3, 0) & 04000);
}

long wait_ready(Call& c, u16 events, int timeout_option) {
  struct { i64 seconds, microseconds; } limit{};
  u32 length = sizeof limit;
  i64 timeout = -1;
  if (!sys(__NR_getsockopt, c.fd(), 1, timeout_option, &limit, &length) && (limit.seconds || limit.microseconds))
    timeout = limit.seconds * 1000 + (limit.microseconds + 999) / 1000;
  struct { i32 fd; u16 events, revents; } ready{(i32)c.fd(), events, 0};
  return blocking(c.t, __NR_poll, (u64)&ready, 1, (u64)timeout);
}

void write_offset(Log& log, u64 position) {
  log.begin();
  log.byte((u8)Op::kOffset);
  log.varint(position);
  log.commit();
}

bool read_offset(Thread& t, u64& position) {
  if (t.log.peek() != Op::kOffset) return false;
  t.log.read_byte();
  position = t.log.read_varint();
  return true;
}

void write_send(Call& c, u32 channel, u64 length) {
  begin_item(c, Shape::kSend);
  c.log().varint(channel);
  c.log().varint(length);
  finish_item(c);
}

namespace {

/// Several processes have used this end, now or before: which bytes are ours cannot be told from our own calls.
bool needs_position(const Fd& fd) { return load(g.stage.connection(fd.object).shared[fd.end]); }

/// The call for just one of a list of messages.
long send_once(Call& c, bool may_wait, bool resumed, const Buffers& buffers) {
  if (c.number == __NR_sendmmsg) {
    return may_wait ? blocking(c.t, __NR_sendmsg, c.a[0], c.a[1], c.a[3])
                    : sys(__NR_sendmsg, c.a[0], c.a[1], c.a[3] | kDontWait);
  }
  if (may_wait) return raw_blocking(c);
  if (!resumed && (get_fd(c.fd()).flags & kFdNonBlocking)) return raw(c);
  if (c.number == __NR_sendmsg) return sys(__NR_sendmsg, c.a[0], c.a[1], c.a[2] | kDontWait);
  // Only the rest of what the program gave, and without waiting.
  Iovec rest[16];
  u32 n = 0;
  for (u32 i = 0; i < buffers.count && n < 16; ++i)
    if (buffers.of[i].length) rest[n++] = buffers.of[i];
  if (is_socket_call(c.number)) {
    MessageHeader m{};
    m.vectors = (u64)rest;
    m.vector_count = n;
    return sys(__NR_sendmsg, c.a[0], &m, message_flags(c) | kDontWait);
  }
  long result = sys(__NR_pwritev2, c.a[0], rest, n, -1, 0, 8);  // RWF_NOWAIT
  if (result == -EOPNOTSUPP) result = sys(__NR_writev, c.a[0], rest, n);
  return result;
}

long record_send(Call& c, const Fd& fd, Buffers& buffers) {
  u32 channel = channel_sent(fd);
  auto& direction = direction_sent(fd);
  bool shared = is_shared(fd);
  if (!shared && !c.t.process->serial) {
    u64 length = buffers.total;
    if (needs_position(fd)) write_offset(c.log(), direction.sent);
    write_send(c, channel, length);
    long result = send_once(c, true, false, buffers);
    if (result > 0) direction.sent += (u64)result;
    if (result != (long)length) record_correction(c, result);
    return result;
  }
  // Others may send here as well, so the turn (and the lock, among processes) is kept while we do, without sleeping.
  u64 done = 0;
  for (;;) {
    long result;
    bool more;
    {
      OptionalLock lock(shared ? &direction.send_lock : nullptr, c.t.tid);
      if (needs_position(fd)) write_offset(c.log(), direction.sent);
      write_send(c, channel, buffers.total);
      result = send_once(c, false, done > 0, buffers);
      if (result > 0) direction.sent += (u64)result;
      more = (result == -EAGAIN || (result > 0 && (u64)result < buffers.total)) && !is_nonblocking(c);
      // Before others send where a killed one would have said that it had.
      if (more) record_correction(c, result > 0 ? kContinue - result : kAgain);
      else if (result != (long)buffers.total) record_correction(c, result);
    }
    if (!more) return is_error(result) && done ? (long)done : (long)done + result;
    if (result > 0) {
      done += (u64)result;
      buffers.skip((u64)result);
    }
    c.t.head_written = true;
    long ready = wait_ready(c, 4, kSendTimeout);
    c.t.head_written = false;
    if (ready <= 0) {
      long outcome = done ? (long)done : ready ? interrupted(c) : -EAGAIN;
      record_correction(c, outcome);
      return outcome;
    }
  }
}

long replay_send(Call& c, const Fd& fd, Buffers& buffers) {
  auto& direction = direction_sent(fd);
  bool fifo = fd.kind == FdKind::kFifo;
  u64 done = 0;
  for (;;) {
    u64 position = 0;
    take_turn_before(c.t);
    bool shared = read_offset(c.t, position);
    expect_item(c, 1 << (int)Shape::kSend);
    u32 channel = (u32)c.log().read_varint();
    u64 length = c.log().read_varint();
    expect_check(c);
    if (channel != channel_sent(fd)) diverge(c.t, Cause::kData, "sends on another channel", channel, channel_sent(fd));
    // A FIFO takes large writes in pieces.
    if (fifo ? length > buffers.total : length != buffers.total)
      diverge(c.t, Cause::kData, "sends another number of bytes", (i64)length, (i64)buffers.total);
    if (!shared) position = direction.sent;
    // The bytes first: others may wait for them before our own turn comes again.
    long result = peek_correction(c, (long)length);
    long sent = result <= kContinue ? kContinue - result : result;
    // A FIFO's bytes keep their positions, also if they did not go: others like them may have been taken for them.
    if (fifo) store_piece(c.t, channel, position, buffers, length);
    else if (sent > 0) store_bytes(c.t, channel, position, buffers, (u64)sent);
    if (sent > 0) buffers.skip((u64)sent);
    if (c.log().peek() != Op::kCorrect) take_turn_behind(c.t);  // else it is given up behind that
    result = corrected(c, result);
    if (result == kAgain || result <= kContinue) {
      if (result <= kContinue) done += (u64)(kContinue - result);
      take_turn_behind(c.t);
      if (c.log().peek() == Op::kCorrect) return corrected(c, 0);
      continue;
    }
    return is_error(result) && done ? (long)done : (long)done + result;
  }
}

}  // namespace

void lock_shared(u32& word, u32 tid) {
  for (int spins = 0; !swap_if(word, 0u, tid); ++spins) {
    if (spins < 100) {
      __builtin_ia32_pause();
      continue;
    }
    tid |= kLockWanted;  // others may sleep as well: whoever unlocks has to wake them
    u32 owner = load(word);
    if (!owner || (!(owner & kLockWanted) && !swap_if(word, owner, owner | kLockWanted))) continue;
    owner |= kLockWanted;
    Timespec wait{0, 10'000'000};
    long result = futex_wait(word, owner, &wait);
    if (result == -ETIMEDOUT && is_gone(owner & ~kLockWanted) && swap_if(word, owner, tid)) break;
  }
}

void unlock_shared(u32& word) {
  if (__atomic_exchange_n(&word, 0u, __ATOMIC_ACQ_REL) & kLockWanted) futex_wake(word, 1);
}

bool peeks_go_on(int fd) {
  i32 offset = -1;
  u32 size = sizeof offset;
  return !sys(__NR_getsockopt, fd, 1, 42, &offset, &size) && offset >= 0;
}

u32 new_connection(stage::ConnectionKind kind, bool claimed) {
  u32 number = add(g.stage.header().next_connection, 1u) + 1;
  if (number >= stage::kMaxConnections) {
    stop_recording(format::StopReason::kLimit);
    return 0;
  }
  auto& connection = g.stage.connection(number);
  connection.kind = (u32)kind;
  connection.claimed = claimed && !process().outside;
  connection.direction[0].outside_from = connection.direction[1].outside_from = ~u64{0};
  return number;
}

namespace {
/// MSG_OOB: whether the byte that it marks keeps its place in the stream depends on the receiver, and on other such bytes.
/// So from here on the receiver stores what it gets.
void leave_to_receiver(stage::Direction& direction) {
  if (load(direction.outside_from) == ~u64{0}) store(direction.outside_from, load(direction.sent));
}
}  // namespace

long send_on_channel(Call& c, const Fd& fd, Buffers& buffers) {
  if (!g.replay && (message_flags(c) & kUrgent)) leave_to_receiver(direction_sent(fd));
  if (c.number == __NR_sendmsg || c.number == __NR_sendmmsg) note_passed_fds(c);
  bool fifo = fd.kind == FdKind::kFifo;
  long result = g.replay ? replay_send(c, fd, buffers) : fifo ? record_fifo_send(c, fd, buffers) : record_send(c, fd, buffers);
  if (c.number == __NR_sendmmsg && result >= 0) {
    u32 length = (u32)result;
    write_memory(c.a[1] + sizeof(MessageHeader), &length, 4);
    return 1;
  }
  return result;
}

// --- receiving -----------------------------------------------------------------------------------------------------------

namespace {

long receive_once(Call& c, bool may_wait, const Buffers& buffers) {
  u64 flags = message_flags(c);
  if (c.number == __NR_recvmmsg) {
    return may_wait ? blocking(c.t, __NR_recvmsg, c.a[0], c.a[1], flags & 0xffff)
                    : sys(__NR_recvmsg, c.a[0], c.a[1], (flags & 0xffff) | kDontWait);
  }
  if (may_wait) return raw_blocking(c);
  if (get_fd(c.fd()).flags & kFdNonBlocking) return raw(c);
  if (c.number == __NR_recvmsg) return sys(__NR_recvmsg, c.a[0], c.a[1], flags | kDontWait);
  if (c.number == __NR_recvfrom)
    return sys(__NR_recvfrom, c.a[0], c.a[1], c.a[2], flags | kDontWait, c.a[4], c.a[5]);
  long result = sys(__NR_preadv2, c.a[0], buffers.of, buffers.count, -1, 0, 8);  // RWF_NOWAIT
  if (result == -EOPNOTSUPP) {
    struct { i32 fd; u16 events, revents; } ready{(i32)c.fd(), 1, 0};
    result = sys(__NR_poll, &ready, 1, 0);
    result = result > 0 ? sys(__NR_readv, c.a[0], buffers.of, buffers.count) : -EAGAIN;
  }
  return result;
}

}  // namespace

void write_receive(Call& c, u32 channel, long result) {
  if (has_beside(c)) {
    Exchange x(c, false, nullptr, 0);
    beside_outs(c, x, result);
    u64 size = x.count();
    begin_item(c, Shape::kMessage);
    c.log().varint(channel);
    c.log().zigzag(result);
    c.log().varint(size);
  } else {
    begin_item(c, Shape::kReceive);
    c.log().varint(channel);
    c.log().zigzag(result);
  }
  finish_item(c);
}

namespace {
/// recv and recvmsg with MSG_WAITALL, which may come with nothing but bytes.
bool wants_all(Call& c) {
  if (!(message_flags(c) & kWaitAll) || (message_flags(c) & kPeek)) return false;
  MessageHeader m{};
  return c.number == __NR_recvfrom || (c.number == __NR_recvmsg && read_memory(m, c.a[1]) && !m.control);
}

/// They are received piece by piece where others receive too, since each must know where its bytes lie. False: they lie apart,
/// because somebody else got some in between.
bool receive_all(Call& c, stage::Direction& direction, bool shared, Buffers buffers, long& result, u64& position) {
  u64 done = 0, wanted = buffers.total, flags = (message_flags(c) & 0xffff & ~kWaitAll) | kDontWait;
  bool together = true;
  while (done < wanted) {
    {
      OptionalLock lock(shared ? &direction.receive_lock : nullptr, c.t.tid);
      MessageHeader piece{};
      piece.vectors = (u64)buffers.of;
      piece.vector_count = buffers.count;
      result = sys(__NR_recvmsg, c.a[0], &piece, flags);
      if (!done) position = direction.received;
      else together &= direction.received == position + done;
      if (result > 0) direction.received += (u64)result;
    }
    if (result > 0) {
      done += (u64)result;
      buffers.skip((u64)result);
      continue;
    }
    if (result != -EAGAIN || is_nonblocking(c)) break;
    long ready = wait_ready(c, 1, kReceiveTimeout);
    if (ready > 0) continue;
    if (ready == -EINTR && !done) result = interrupted(c);
    if (ready == -EINTR && !(c.t.signals.captured & ~c.t.signals.mask)) {
      clear_interrupt(c.t);
      continue;
    }
    break;
  }
  if (done) result = (long)done;
  // What else the call says about a stream: nobody's name, and no flags.
  u32 none = 0;
  if (c.number == __NR_recvfrom && c.a[4] && c.a[5] && result >= 0) write_memory(c.a[5], &none, 4);
  if (c.number == __NR_recvmsg && result >= 0) {
    write_memory(c.a[1] + offsetof(MessageHeader, name_length), &none, 4);
    write_memory(c.a[1] + offsetof(MessageHeader, flags), &none, 4);
  }
  return together;
}

/// MSG_OOB: the urgent byte, which is beside the stream. This does not wait.
long record_urgent(Call& c, const Buffers& buffers) {
  long result = receive_once(c, false, buffers);
  record_result(c, result, stored_outs);
  return result;
}

long record_receive(Call& c, const Fd& fd, Buffers& buffers) {
  if (message_flags(c) & kUrgent) return record_urgent(c, buffers);
  auto& direction = direction_received(fd);
  bool peek = message_flags(c) & kPeek;
  bool shared = is_shared(fd);
  bool together = true;
  long result;
  u64 position;
  if ((shared || c.t.process->serial) && wants_all(c) && buffers.total && !buffers.bad) {
    together = receive_all(c, direction, shared, buffers, result, position);
  } else if ((!shared && !c.t.process->serial) || (message_flags(c) & kWaitAll)) {
    result = receive_once(c, true, buffers);
    position = direction.received;
    if (result > 0 && !peek) direction.received += (u64)result;
  } else {
    for (;;) {
      {
        OptionalLock lock(shared ? &direction.receive_lock : nullptr, c.t.tid);
        result = receive_once(c, false, buffers);
        position = direction.received;
        if (result > 0 && !peek) direction.received += (u64)result;
      }
      if (result != -EAGAIN || is_nonblocking(c)) break;
      long ready = wait_ready(c, 1, kReceiveTimeout);
      if (ready > 0) continue;
      if (ready == -EINTR) result = interrupted(c);
      if (is_restart(result) && !(c.t.signals.captured & ~c.t.signals.mask)) {
        clear_interrupt(c.t);
        continue;
      }
      break;
    }
  }
  bool claimed = load(g.stage.connection(fd.object).claimed) && position + (u64)max(result, 0l) <= load(direction.outside_from);
  if (!claimed || !together || (peek && peeks_go_on((int)c.fd()))) {
    record_result(c, result, stored_outs);
    return result;
  }
  if (result > 0 && (shared || peek || needs_position(fd))) write_offset(c.log(), position);
  write_receive(c, channel_received(fd), result);
  return result;
}

long replay_receive(Call& c, const Fd& fd, Buffers& buffers) {
  auto& direction = direction_received(fd);
  bool peek = message_flags(c) & (kPeek | kUrgent);
  u64 position = direction.received;
  take_turn_before(c.t);
  read_offset(c.t, position);
  Shape shape = expect_item(c, 1 << (int)Shape::kOut | 1 << (int)Shape::kReceive | 1 << (int)Shape::kMessage);
  if (shape == Shape::kOut) {
    long result = finish_out(c, stored_outs);
    if (result > 0 && !peek) direction.received += (u64)result;
    return result;
  }
  u32 channel = (u32)c.log().read_varint();
  long result = c.log().read_zigzag();
  u64 size = shape == Shape::kMessage ? c.log().read_varint() : 0;
  expect_check(c);
  if (channel != channel_received(fd)) diverge(c.t, Cause::kData, "receives on another channel", channel, channel_received(fd));
  if (result > 0) {
    if (fd.kind == FdKind::kFifo) {
      fetch_piece(c.t, channel, position, buffers, (u64)result);
    } else {
      fetch_bytes(c.t, channel, position, buffers, (u64)result, peek);
      if (!peek) note_received(channel, position + (u64)result);
    }
  }
  if (shape == Shape::kMessage) {
    const char* bytes = c.log().read_payload(size);
    if (!bytes) end_of_log(c.t);
    Exchange x(c, true, bytes, size);
    beside_outs(c, x, result);
  } else if (c.number == __NR_recvfrom && result >= 0 && c.a[4] && c.a[5]) {
    u32 none = 0;  // a stream names no sender
    write_memory(c.a[5], &none, 4);
  }
  return result;
}

}  // namespace

long receive_on_channel(Call& c, const Fd& fd, Buffers& buffers) {
  bool fifo = fd.kind == FdKind::kFifo;
  long result = g.replay ? replay_receive(c, fd, buffers)
                : fifo   ? record_fifo_receive(c, fd, buffers)
                         : record_receive(c, fd, buffers);
  if (has_header(c)) take_passed_fds(c, result);
  if (c.number == __NR_recvmmsg && result >= 0) {
    u32 length = (u32)result;
    write_memory(c.a[1] + sizeof(MessageHeader), &length, 4);
    return 1;
  }
  return result;
}

}  // namespace pastcone::runtime

#include "packets.h"

#include "addresses.h"
#include "channels.h"
#include "messages.h"
#include "sockets.h"
#include "store.h"
#include "waits.h"

namespace pastcone::runtime {
namespace {

constexpr u64 kWaitForOne = 0x10000;
constexpr u64 kListStep = sizeof(MessageHeader) + 8;  // struct mmsghdr
constexpr u32 kMostMessages = 1024;

// --- what is under way -----------------------------------------------------------------------------------------------------

/// A message, by what is in it. Sender and receiver may have it in other parts, so it is hashed in blocks of its own.
u64 content_of(const Buffers& buffers, u64 n) {
  Hash hash;
  char block[512];
  u64 filled = 0;
  each_part(buffers, n, [&](u64 base, u64 length) {
    for (u64 done = 0; done < length;) {
      u64 part = min(length - done, sizeof block - filled);
      if (!read_memory(block + filled, base + done, part)) memset(block + filled, 0, part);
      filled += part;
      done += part;
      if (filled < sizeof block) continue;
      hash.bytes(block, filled);
      filled = 0;
    }
  });
  hash.bytes(block, filled);
  return hash.state;
}

constexpr u64 kFilling = 1;
constexpr u32 kProbes = 256;

u64 packet_key(u32 channel, u64 content, u64 length) { return address_key(KeyOf::kPacket, channel, content, length); }

constexpr u64 kSeen = u64{1} << 63;  ///< beside a position: somebody has peeked at the message

/// Makes a slot ours if it holds `key`.
bool claim(u64 at, u64 key) { return swap_if(g.stage.packet(at).key, key, kFilling); }

/// Puts a message down; where. If there is no room another one is given up: that will be stored by its receiver.
u64 put_packet(u64 key, u64 position) {
  u64 at = 0;
  for (u32 i = 0; i < kProbes && !at; ++i)
    if (claim(key + i, 0)) at = key + i;
  for (u32 i = 0; i < kProbes && !at; ++i) {
    u64 other = key + (position + i) % kProbes, held = load(g.stage.packet(other).key);
    if (held > kFilling && claim(other, held)) at = other;
  }
  if (!at) return key;
  g.stage.packet(at).position = position;
  store(g.stage.packet(at).key, key);
  return at;
}

/// Takes it away, or marks it as seen: its position as it was kept. 0: it is not there; its place may have gone to an equal one.
u64 take_packet(u64 at, u64 key, u64 position, bool keep) {
  if (!claim(at, key)) return 0;
  auto& slot = g.stage.packet(at);
  u64 held = slot.position;
  bool same = (held & ~kSeen) == position;
  if (same && keep) slot.position = held | kSeen;
  store(slot.key, same && !keep ? 0 : key);
  return same ? held : 0;
}

/// The message with this key that was sent first: its position, or 0.
u64 find_packet(u64 key, u64 expected, bool keep) {
  for (;;) {
    u64 position = 0, found = 0;
    for (u32 i = 0; i < kProbes && position != expected; ++i) {
      auto& slot = g.stage.packet(key + i);
      if (load(slot.key) != key) continue;
      u64 at = load(slot.position) & ~kSeen;
      if (position && at > position && at != expected) continue;
      position = at;
      found = key + i;
    }
    if (!position || take_packet(found, key, position, keep)) return position;
  }
}

/// In the log: the send failed (kTaken + error), but its bytes, equal to another's, were taken for that one's.
constexpr long kTaken = -0x300000;

// --- sending ---------------------------------------------------------------------------------------------------------------

bool is_list(Call& c) { return c.number == __NR_sendmsg || c.number == __NR_sendmmsg; }

/// Record: the channel a message will go to, or 0: not known. `named`: it says so itself.
u32 destination(Call& c, const Fd& fd, bool& named) {
  named = false;
  if (fd.kind == FdKind::kSequence) return channel_sent(fd);
  MessageHeader m{};
  if (c.number == __NR_sendto) {
    m.name = c.a[4];
    m.name_length = (u32)c.a[5];
  } else if (is_list(c)) {
    read_memory(m, c.a[1]);
  }
  named = m.name && m.name_length;
  u32 socket = named ? find_named_socket(m.name, m.name_length) : load(g.stage.connection(fd.object).peer[fd.end]);
  return socket ? socket ^ 1 : 0;
}

long transmit(Call& c, const Buffers& buffers, bool may_wait) {
  MessageHeader m{};
  m.vectors = (u64)buffers.of;
  m.vector_count = buffers.count;
  if (c.number == __NR_sendto) {
    m.name = c.a[4];
    m.name_length = (u32)c.a[5];
  }
  u64 header = is_list(c) ? c.a[1] : (u64)&m, flags = message_flags(c);
  if (!may_wait) return sys(__NR_sendmsg, c.a[0], header, flags | kDontWait);
  return restarting(c, [&] { return blocking(c.t, __NR_sendmsg, c.a[0], header, flags); });
}

struct Letter {
  u32 channel;
  u64 key;
  const Buffers& buffers;
};

/// Gives it a place in the channel, and writes that down.
u64 place(Call& c, const Letter& letter) {
  u64 position = add(direction_of(letter.channel).sent, letter.buffers.total + 1) + 1;
  write_offset(c.log(), position);
  write_send(c, letter.channel, letter.buffers.total);
  return position;
}

/// It was not sent: the next one gets its place, unless that is already behind it.
void give_back(const Letter& letter, u64 position) {
  swap_if(direction_of(letter.channel).sent, position + letter.buffers.total, position - 1);
}

/// Under the lock: messages are sent in the order of their places. Who is killed must not have said that it has sent something
/// at a place that is another's: so that is said first.
long send_at_once(Call& c, const Letter& letter) {
  SharedLock lock(direction_of(letter.channel).send_lock, c.t.tid);
  u64 position = place(c, letter);
  long result = transmit(c, letter.buffers, false);
  if (!is_error(result)) put_packet(letter.key, position);
  bool again = result == -EAGAIN && !is_nonblocking(c);
  if (result != (long)letter.buffers.total) record_correction(c, again ? kAgain : result);
  if (is_error(result)) give_back(letter, position);
  return result;
}

/// Without the lock, so it can be received before we are back.
long send_sleeping(Call& c, const Letter& letter) {
  u64 position = place(c, letter), slot = put_packet(letter.key, position);
  c.t.head_written = true;
  long result = transmit(c, letter.buffers, true);
  c.t.head_written = false;
  if (!is_error(result)) return result;
  bool ours = take_packet(slot, letter.key, position, false) == position;
  record_correction(c, ours ? result : kTaken + result);
  if (ours) give_back(letter, position);
  return result;
}

long record_send(Call& c, const Fd& fd, Buffers& buffers, u64 content) {
  bool named = false;
  u32 channel = buffers.bad ? 0 : destination(c, fd, named);
  if (!channel) {
    long result = transmit(c, buffers, true);
    record_result(c, result);
    return result;
  }
  Letter letter{channel, packet_key(channel, content, buffers.total), buffers};
  // Alone nobody can come between.
  if (fd.kind == FdKind::kSequence && !is_shared(fd) && !c.t.process->serial) return send_sleeping(c, letter);
  for (;;) {
    long result = send_at_once(c, letter);
    if (result != -EAGAIN || is_nonblocking(c)) return result;
    // Nobody tells when there is room at a receiver that is not connected to us.
    if (named) return send_sleeping(c, letter);
    c.t.head_written = true;
    long ready = wait_ready(c, 4, kSendTimeout);
    c.t.head_written = false;
    if (ready > 0) continue;
    result = ready ? interrupted(c) : -EAGAIN;
    record_correction(c, result);
    return result;
  }
}

/// The mark of the free byte before a message says that it is there.
void store_packet(Thread& t, u32 channel, u64 position, const Buffers& buffers) {
  write_store(t, channel, position, buffers, buffers.total);
  mark_store(t, channel, position - 1, 1);
  publish(g.stage.connection(channel / 2));
}

long replay_send(Call& c, const Fd& fd, Buffers& buffers) {
  for (;;) {
    u64 position = 0;
    take_turn_before(c.t);
    read_offset(c.t, position);
    Shape shape = expect_item(c, 1 << (int)Shape::kSend | 1 << (int)Shape::kResult);
    if (shape == Shape::kResult) {
      long result = c.log().read_zigzag();
      expect_check(c);
      return result;
    }
    u32 channel = (u32)c.log().read_varint();
    u64 length = c.log().read_varint();
    expect_check(c);
    if (fd.kind == FdKind::kSequence && channel != channel_sent(fd))
      diverge(c.t, Cause::kData, "sends on another channel", channel, channel_sent(fd));
    if (length != buffers.total) diverge(c.t, Cause::kData, "sends another number of bytes", (i64)length, (i64)buffers.total);
    if (!position) diverge(c.t, Cause::kData, "the recording does not say where this message lies");
    long result = peek_correction(c, (long)length);
    if (!is_error(result)) store_packet(c.t, channel, position, buffers);
    if (c.log().peek() != Op::kCorrect) take_turn_behind(c.t);  // else it is given up behind that
    result = corrected(c, result);
    if (result < kTaken) result -= kTaken;
    if (result != kAgain) return result;
    take_turn_behind(c.t);
    if (c.log().peek() == Op::kCorrect) return corrected(c, 0);
  }
}

long send_packet(Call& c, const Fd& fd) {
  Buffers buffers;
  fill_buffers(c, buffers);
  u64 content = content_of(buffers, buffers.total);
  c.log().hash.mix(buffers.total);
  c.log().hash.mix(content);
  if (is_list(c)) note_passed_fds(c);
  return g.replay ? replay_send(c, fd, buffers) : record_send(c, fd, buffers, content);
}

// --- receiving -------------------------------------------------------------------------------------------------------------

struct Arrival {
  u64 length;   ///< all of it, also what did not fit
  u64 content;
  bool whole;   ///< we have seen all of it
};

/// The call, with room behind the program's own for what does not fit: the message is known by all of its bytes.
long take_in(Call& c, const Fd& fd, Buffers& buffers, bool may_wait, Arrival& arrival) {
  MessageHeader m{};
  u32 room = 0;
  if (buffers.bad) return sys(__NR_recvmsg, c.a[0], c.a[1], message_flags(c) | kDontWait);  // which fails
  if (has_header(c) && !read_memory(m, c.a[1])) return -EFAULT;
  if (c.number == __NR_recvfrom && c.a[4]) {
    if (!read_memory(room, c.a[5])) return -EFAULT;
    m.name = c.a[4];
    m.name_length = room;
  }
  u64 flags = message_flags(c) & ~kWaitForOne, wanted = buffers.total;
  u32 count = buffers.count;
  bool part = (flags & kPeek) && peeks_go_on((int)c.fd());
  if (!part) buffers.add((u64)c.t.spare, sizeof c.t.spare);
  m.vectors = (u64)buffers.of;
  m.vector_count = buffers.count;
  long result = may_wait ? restarting(c, [&] { return blocking(c.t, __NR_recvmsg, c.a[0], (u64)&m, flags); })
                         : sys(__NR_recvmsg, c.a[0], &m, flags | kDontWait);
  if (result >= 0) {
    arrival.whole = !(m.flags & kTruncated) && !part;
    arrival.length = (u64)result;
    arrival.content = arrival.whole ? content_of(buffers, arrival.length) : 0;
    if ((u64)result > wanted) {
      m.flags |= (u32)kTruncated;
      if (!(flags & kTruncated)) result = (long)wanted;
    }
    if (fd.kind == FdKind::kSequence && m.name && is_chosen_name(m.name, m.name_length)) m.name_length = 0;
    if (c.number == __NR_recvfrom && c.a[4]) write_memory(c.a[5], &m.name_length, 4);
    if (has_header(c)) {
      write_memory(c.a[1] + offsetof(MessageHeader, name_length), &m.name_length, 4);
      write_memory(c.a[1] + offsetof(MessageHeader, control_length), &m.control_length, 8);
      write_memory(c.a[1] + offsetof(MessageHeader, flags), &m.flags, 4);
    }
  }
  buffers.count = count;
  buffers.total = wanted;
  return result;
}

/// The position of the message that has just arrived, or 0: nobody known to us sent it.
u64 find_sent(Call& c, u32 channel, const Arrival& arrival, bool keep) {
  auto& direction = direction_of(channel);
  u64 key = packet_key(channel, arrival.content, arrival.length), expected = max<u64>(direction.received, 1);
  if (u64 position = find_packet(key, expected, keep)) return position;
  SharedLock lock(direction.send_lock, c.t.tid);  // its sender may not have come to put it down
  return find_packet(key, expected, keep);
}

long record_receive(Call& c, const Fd& fd, Buffers& buffers) {
  u32 channel = channel_received(fd);
  auto& direction = direction_of(channel);
  bool peek = message_flags(c) & kPeek;
  bool shared = is_shared(fd), sleeps = !shared && !c.t.process->serial;
  Arrival arrival{};
  u64 position = 0;
  long result;
  for (;;) {
    {
      OptionalLock lock(shared ? &direction.receive_lock : nullptr, c.t.tid);
      result = take_in(c, fd, buffers, sleeps, arrival);
      if (result >= 0 && arrival.whole) {
        position = find_sent(c, channel, arrival, peek);
        if (position && !peek) direction.received = position + arrival.length + 1;
      }
    }
    if (result != -EAGAIN || sleeps || is_nonblocking(c)) break;
    long ready = wait_ready(c, 1, kReceiveTimeout);
    if (ready > 0) continue;
    if (!ready) break;
    result = interrupted(c);
    if (!is_restart(result) || (load(c.t.signals.captured) & ~c.t.signals.mask)) break;
    clear_interrupt(c.t);
  }
  if (!position) {
    record_result(c, result, stored_outs);
    return result;
  }
  write_offset(c.log(), position);
  write_receive(c, channel, result);
  return result;
}

void fetch_packet(Thread& t, u32 channel, u64 position, const Buffers& buffers, u64 n) {
  wait_for(g.stage.connection(channel / 2), stage::WaitKind::kPacket, channel, position,
           [&] { return marked_in_store(t, channel, position - 1, 1) == 1; });
  read_store(t, channel, position, buffers, n);
}

long replay_receive(Call& c, const Fd& fd, Buffers& buffers) {
  u64 position = 0;
  take_turn_before(c.t);
  read_offset(c.t, position);
  Shape shape = expect_item(c, 1 << (int)Shape::kOut | 1 << (int)Shape::kReceive | 1 << (int)Shape::kMessage);
  if (shape == Shape::kOut) return finish_out(c, stored_outs);
  u32 channel = (u32)c.log().read_varint();
  long result = c.log().read_zigzag();
  u64 size = shape == Shape::kMessage ? c.log().read_varint() : 0;
  expect_check(c);
  if (channel != channel_received(fd)) diverge(c.t, Cause::kData, "receives on another channel", channel, channel_received(fd));
  if (!position) diverge(c.t, Cause::kData, "the recording does not say where this message lies");
  fetch_packet(c.t, channel, position, buffers, min((u64)result, buffers.total));
  if (shape == Shape::kMessage) {
    const char* bytes = c.log().read_payload(size);
    if (!bytes) end_of_log(c.t);
    Exchange x(c, true, bytes, size);
    beside_outs(c, x, result);
  }
  return result;
}

long receive_packet(Call& c, const Fd& fd) {
  Buffers buffers;
  fill_buffers(c, buffers);
  long result = g.replay ? replay_receive(c, fd, buffers) : record_receive(c, fd, buffers);
  if (has_header(c)) take_passed_fds(c, result);
  return result;
}

/// sendmmsg and recvmmsg: one by one, each an event of its own.
template <typename F>
long each_message(Call& c, F one) {
  Call message = c;
  u32 count = min((u32)c.a[2], kMostMessages);
  for (u32 done = 0; done < count; ++done, message.a[1] += kListStep) {
    if (done && (c.a[3] & kWaitForOne)) message.a[3] |= kDontWait;
    long result = one(message);
    if (result < 0) return done ? (long)done : result;
    u32 length = (u32)result;
    write_memory(message.a[1] + sizeof(MessageHeader), &length, 4);
  }
  return count;
}

/// What a process sends after its recording has ended nobody will produce again.
bool is_packet_socket(const Fd& fd) {
  return (fd.kind == FdKind::kSequence || fd.kind == FdKind::kDatagram) && !process().outside;
}

/// The kernel takes a list of buffers without a byte for nothing to do.
bool is_empty_list(Call& c) {
  Buffers buffers;
  fill_buffers(c, buffers);
  return buffers.bad || !buffers.total;
}

}  // namespace

bool sends_packets(Call& c, const Fd& fd) {
  if (!is_packet_socket(fd)) return false;
  switch (c.number) {
    case __NR_write: case __NR_sendto: case __NR_sendmsg: case __NR_sendmmsg: return true;
    case __NR_writev: return !is_empty_list(c);
    default: return false;
  }
}

bool receives_packets(Call& c, const Fd& fd) {
  if (!is_packet_socket(fd)) return false;
  switch (c.number) {
    case __NR_recvfrom: return !c.a[4] || c.a[5];
    case __NR_recvmsg: return true;
    case __NR_recvmmsg: return !c.a[4];  // not with a time limit
    case __NR_read: case __NR_readv: return !is_empty_list(c);
    default: return false;
  }
}

long send_packets(Call& c, const Fd& fd) {
  auto one = [&](Call& message) { return send_packet(message, fd); };
  return c.number == __NR_sendmmsg ? each_message(c, one) : one(c);
}

long receive_packets(Call& c, const Fd& fd) {
  auto one = [&](Call& message) { return receive_packet(message, fd); };
  return c.number == __NR_recvmmsg ? each_message(c, one) : one(c);
}

}  // namespace pastcone::runtime

// Sockets and pipes: how connections come to be, and how their two ends find each other.
#include "addresses.h"
#include "channels.h"
#include "fifos.h"
#include "handlers.h"
#include "sockets.h"

namespace pastcone::runtime {
namespace {

constexpr u16 kUnix = 1, kInet = 2, kInet6 = 10;
constexpr u64 kTypeMask = 0xf, kStream = 1, kDatagram = 2, kSequence = 5;
constexpr u64 kCloexec = 02000000, kNonBlock = 04000;

struct SocketAddress {
  u16 family;
  char rest[126];
  u32 length = 0;

  u16 port() const { return (u16)((u8)rest[0] << 8 | (u8)rest[1]); }
  /// The IPv4 address, or a fold of the IPv6 one; an IPv4 address in IPv6 clothes is the same as itself.
  u64 host() const {
    u32 w[4];
    if (family == kInet) {
      memcpy(w, rest + 2, 4);
      return w[0];
    }
    memcpy(w, rest + 6, 16);
    if (!w[0] && !w[1] && w[2] == 0xffff0000) return w[3];
    return ((u64)w[0] << 32 | w[1]) * 0x9e3779b97f4a7c15 ^ ((u64)w[2] << 32 | w[3]);
  }
};

bool read_address(SocketAddress& to, u64 from, u64 length) {
  to.length = (u32)min<u64>(length, 128);
  return length >= 2 && read_memory(&to, from, to.length);
}

bool socket_name(int fd, SocketAddress& a, long call = __NR_getsockname) {
  u32 length = 128;
  if (sys(call, fd, &a, &length)) return false;
  a.length = length;
  return true;
}

u64 unix_key(const SocketAddress& a) {
  Hash h;
  h.bytes(a.rest, a.length > 2 ? a.length - 2 : 0);
  return address_key(KeyOf::kUnixSocket, h.state);
}

u64 inet_key(u16 connector_port, u16 acceptor_port, u64 acceptor_host) {
  return address_key(KeyOf::kInetSocket, connector_port, acceptor_port, acceptor_host);
}

/// A NUL and five hexadecimal digits.
bool is_chosen_name(const SocketAddress& a) { return a.family == kUnix && a.length == 8 && !a.rest[0]; }

/// The key of a datagram socket's name: a file, by what it is and not by how it is called, or an abstract name.
u64 name_key(const SocketAddress& a) {
  if (a.family != kUnix || a.length <= 2) return 0;
  Hash h;
  if (!a.rest[0]) {
    h.bytes(a.rest, a.length - 2);
    return address_key(KeyOf::kDatagramName, h.state);
  }
  char path[sizeof a.rest + 1] = {};
  memcpy(path, a.rest, min<u64>(a.length - 2, sizeof a.rest));
  Stat s{};
  return sys(__NR_stat, path, &s) ? 0 : address_key(KeyOf::kDatagramFile, s.dev, s.ino);
}

/// Has the kernel choose a port. False: there is one. A port that was chosen is given back when a
/// connect fails, though getsockname() tells it still; that one can be bound again, others cannot.
bool choose_port(int fd, SocketAddress& own) {
  // Reusing ports whose last connection is winding down, as connect() itself would.
  i32 reuse = 0, on = 1;
  u32 length = 4;
  sys(__NR_getsockopt, fd, 1, 2, &reuse, &length);
  if (!reuse) sys(__NR_setsockopt, fd, 1, 2, &on, 4);
  SocketAddress any = own;
  any.rest[0] = any.rest[1] = 0;
  long result = sys(__NR_bind, fd, &any, own.family == kInet ? 16 : 28);
  if (!reuse) sys(__NR_setsockopt, fd, 1, 2, &reuse, 4);
  return !result && socket_name(fd, own);
}

/// Gives the connecting socket an address before it connects, and the key under which the acceptor will look.
u64 connector_key(int fd, const SocketAddress& peer) {
  SocketAddress own{};
  if (!socket_name(fd, own)) return 0;
  if (peer.family == kUnix) {
    if (own.length <= 2) {
      u16 family = kUnix;
      if (sys(__NR_bind, fd, &family, 2) || !socket_name(fd, own)) return 0;
    }
    return unix_key(own);
  }
  if (!choose_port(fd, own) && !own.port()) return 0;
  return inet_key(own.port(), peer.port(), peer.host());
}

u64 acceptor_key(int fd, const SocketAddress& peer) {
  if (peer.family == kUnix) return peer.length > 2 ? unix_key(peer) : 0;
  SocketAddress own{};
  if (!socket_name(fd, own)) return 0;
  return inet_key(peer.port(), own.port(), own.host());
}

void record_open(Call& c, u32 channel_plus_one, long result, OutsFunction outs) {
  u64 size = 0;
  if (outs) {
    Exchange x(c, false, nullptr, 0);
    outs(x, c.a, result);
    size = x.count();
  }
  begin_item(c, Shape::kOpen);
  c.log().varint(channel_plus_one);
  c.log().zigzag(result);
  c.log().varint(size);
  finish_item(c);
}

/// Replay of the same: the result, and the channel its end sends on.
long replay_open(Call& c, u32& channel_plus_one, OutsFunction outs) {
  expect_item(c, 1 << (int)Shape::kOpen);
  channel_plus_one = (u32)c.log().read_varint();
  return finish_out(c, outs ? outs : [](Exchange&, const u64*, long) {});
}

Fd connection_fd(u32 channel, u64 flags, FdKind kind) {
  Fd entry{};
  entry.kind = kind;
  entry.object = channel / 2;
  entry.end = (u8)(channel % 2);
  entry.cloexec = flags & kCloexec;
  entry.flags = (u8)(kFdWritable | (flags & kNonBlock ? kFdNonBlocking : 0));
  return entry;
}

void accept_outs(Exchange& x, const u64* a, long result) {
  if (is_error(result) || !a[1] || !a[2]) return;
  x.out(a[2], 4);
  u32 n = 0;
  read_memory(n, a[2]);
  x.out(a[1], min<u64>(n, 128));
}

}  // namespace

u32 find_named_socket(u64 address, u32 length) {
  SocketAddress name{};
  u64 key = read_address(name, address, length) ? name_key(name) : 0;
  return key ? find_address(key) : 0;
}

bool is_chosen_name(u64 address, u32 length) {
  SocketAddress name{};
  return read_address(name, address, length) && is_chosen_name(name);
}

/// A datagram socket is a connection by itself, which others send on once it has a name.
static long open_datagram_socket(Call& c) {
  u32 channel = 0;
  long result;
  if (g.replay) {
    result = replay_open(c, channel, nullptr);
  } else {
    result = raw(c);
    if (!is_error(result)) channel = new_connection(stage::ConnectionKind::kDatagram, true) * 2 + 1 + 1;
    record_open(c, channel, result, nullptr);
  }
  if (!is_error(result)) set_fd(result, connection_fd(channel - 1, c.a[1], FdKind::kDatagram));
  return result;
}

long handle_socket(Call& c) {
  u64 family = c.a[0], type = c.a[1] & kTypeMask;
  if (family == kUnix && type == kDatagram) return open_datagram_socket(c);
  long result = logged(c, raw, nullptr);
  if (is_error(result)) return result;
  bool sequence = type == kSequence && family == kUnix;
  bool stream = type == kStream && (family == kUnix || family == kInet || family == kInet6);
  Fd entry{};
  entry.kind = stream || sequence ? FdKind::kSocket : FdKind::kOther;
  entry.cloexec = c.a[1] & kCloexec;
  entry.flags = (u8)(kFdWritable | (c.a[1] & kNonBlock ? kFdNonBlocking : 0) | (sequence ? kFdSequence : 0));
  set_fd(result, entry);
  return result;
}

long handle_bind(Call& c) {
  long result = logged(c, raw, nullptr);
  Fd fd = get_fd(c.fd());
  SocketAddress own{};
  if (g.replay || result || fd.kind != FdKind::kDatagram || !socket_name((int)c.fd(), own)) return result;
  if (u64 key = name_key(own)) {
    g.stage.connection(fd.object).name = key;
    put_address(key, fd.object * 2 + fd.end);
  }
  return result;
}

/// What a connection from or to this socket is.
static FdKind connected_kind(const Fd& socket) {
  return socket.flags & kFdSequence ? FdKind::kSequence : FdKind::kConnection;
}
static stage::ConnectionKind connection_kind(const Fd& socket) {
  return socket.flags & kFdSequence ? stage::ConnectionKind::kSequence : stage::ConnectionKind::kStream;
}

/// Replaces what `fd` is without touching its close-on-exec and blocking flags.
static void become_connection(i64 fd, u32 channel) {
  Fd old = get_fd(fd);
  Fd entry = connection_fd(channel, 0, connected_kind(old));
  entry.cloexec = old.cloexec;
  entry.flags = old.flags;
  set_fd(fd, entry);
}

long handle_connect(Call& c) {
  Fd fd = get_fd(c.fd());
  if (g.replay) {
    u32 channel;
    long result = replay_open(c, channel, nullptr);
    if (channel) become_connection(c.fd(), channel - 1);
    return result;
  }
  SocketAddress peer{};
  if (fd.kind != FdKind::kSocket || !read_address(peer, c.a[1], c.a[2]) ||
      (peer.family != kUnix && peer.family != kInet && peer.family != kInet6)) {
    long result = raw_blocking(c);
    if (!result && fd.kind == FdKind::kDatagram)
      store(g.stage.connection(fd.object).peer[fd.end], find_named_socket(c.a[1], (u32)c.a[2]));
    record_open(c, 0, result, nullptr);
    return result;
  }
  u64 key = connector_key((int)c.fd(), peer);
  u32 connection = new_connection(connection_kind(fd), false);
  if (key && !c.t.process->outside) put_address(key, connection * 2);
  long result = raw_blocking(c);
  bool open = !result || result == -EINPROGRESS || result == -EINTR || result == kRestart || result == -EALREADY;
  if (open) become_connection(c.fd(), connection * 2);
  else if (key) drop_address(key);
  record_open(c, open ? connection * 2 + 1 : 0, result, nullptr);
  return result;
}

long handle_accept(Call& c) {
  u64 flags = c.number == __NR_accept4 ? c.a[3] : 0;
  Fd listener = get_fd(c.fd());
  if (g.replay) {
    u32 channel;
    long result = replay_open(c, channel, accept_outs);
    if (!is_error(result)) set_fd(result, channel ? connection_fd(channel - 1, flags, connected_kind(listener)) : Fd{FdKind::kOther, 0, (flags & kCloexec) != 0, 0, 0});
    return result;
  }
  SocketAddress peer{};
  u32 length = 128;
  long result;
  do {
    length = 128;
    result = blocking(c.t, __NR_accept4, c.a[0], (u64)&peer, (u64)&length, flags);
    if (result != -EINTR) break;
    result = interrupted(c);
    if (!is_restart(result) || (c.t.signals.captured & ~c.t.signals.mask)) break;
    clear_interrupt(c.t);
  } while (true);
  u32 channel = 0;
  if (!is_error(result)) {
    peer.length = length;
    bool stream = listener.kind == FdKind::kSocket;
    if (stream) {
      u64 key = acceptor_key((int)result, peer);
      u32 found = key ? find_address(key) : 0;
      u32 connection = found / 2;
      if (connection) {
        drop_address(key);
        if (is_chosen_name(peer)) length = 2;
        if (!c.t.process->outside) store(g.stage.connection(connection).claimed, 1u);
      } else {
        connection = new_connection(connection_kind(listener), false);
      }
      channel = connection * 2 + 1;
      set_fd(result, connection_fd(channel, flags, connected_kind(listener)));
    } else {
      Fd entry{};
      entry.kind = FdKind::kOther;
      entry.cloexec = flags & kCloexec;
      set_fd(result, entry);
    }
    if (c.a[1] && c.a[2]) {
      u32 room = 0;
      read_memory(room, c.a[2]);
      write_memory(c.a[1], &peer, min(room, length));
      write_memory(c.a[2], &length, 4);
    }
  }
  record_open(c, channel ? channel + 1 : 0, result, accept_outs);
  return result;
}

long handle_getpeername(Call& c) {
  auto execute = [](Call& call) -> long {
    SocketAddress peer{};
    u32 length = 128, room = 0;
    long result = sys(__NR_getpeername, call.a[0], &peer, &length);
    if (result) return result;
    peer.length = length;
    // A name that we gave to a connector is none.
    if (is_chosen_name(peer) && has_end(get_fd(call.fd()))) length = 2;
    if (!read_memory(room, call.a[2]) || !write_memory(call.a[1], &peer, min(room, length)) ||
        !write_memory(call.a[2], &length, 4))
      return -EFAULT;
    return 0;
  };
  return logged(c, execute, c.info.outs);
}

long handle_shutdown(Call& c) { return logged(c, raw, nullptr); }

namespace {
/// Two descriptors that are the ends of one new connection: `first` gets end `first_end`. kOther: not a connection.
long open_pair(Call& c, u64 at, u8 first_end, FdKind kind, u64 flags, u32 (*connect)()) {
  OutsFunction outs = c.info.outs;
  u32 channel = 0;
  long result;
  if (g.replay) {
    result = replay_open(c, channel, outs);
  } else {
    result = raw(c);
    if (!is_error(result) && kind != FdKind::kOther) channel = connect() * 2 + first_end + 1;
    record_open(c, channel, result, outs);
  }
  i32 fds[2];
  if (is_error(result) || !read_memory(fds, at)) return result;
  for (int i = 0; i < 2; ++i) {
    Fd entry = channel ? connection_fd((channel - 1) ^ (u32)i, flags, kind)
                       : Fd{FdKind::kOther, 0, (flags & kCloexec) != 0, kFdWritable, 0};
    set_fd(fds[i], entry);
  }
  return result;
}
}  // namespace

long handle_pipe(Call& c) {
  u64 flags = c.number == __NR_pipe2 ? c.a[1] : 0;
  bool packets = flags & 040000;  // O_DIRECT: reads end at packet borders, and lose what does not fit
  if (packets) return open_pair(c, c.a[0], 1, FdKind::kFifo, flags, new_fifo);
  return open_pair(c, c.a[0], 1, FdKind::kConnection, flags, [] { return new_connection(stage::ConnectionKind::kPipe, true); });
}

long handle_socketpair(Call& c) {
  u64 type = c.a[0] == kUnix ? c.a[1] & kTypeMask : 0;
  switch (type) {
    case kStream:
      return open_pair(c, c.a[3], 0, FdKind::kConnection, c.a[1],
                       [] { return new_connection(stage::ConnectionKind::kStream, true); });
    case kSequence:
      return open_pair(c, c.a[3], 0, FdKind::kSequence, c.a[1],
                       [] { return new_connection(stage::ConnectionKind::kSequence, true); });
    case kDatagram:
      return open_pair(c, c.a[3], 0, FdKind::kDatagram, c.a[1], [] {
        u32 number = new_connection(stage::ConnectionKind::kDatagram, true);
        auto& connection = g.stage.connection(number);
        connection.peer[0] = number * 2 + 1;
        connection.peer[1] = number * 2;
        return number;
      });
    default: return open_pair(c, c.a[3], 0, FdKind::kOther, c.a[1], nullptr);
  }
}

}  // namespace pastcone::runtime

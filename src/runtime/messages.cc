#include "messages.h"

#include "addresses.h"

namespace pastcone::runtime {
namespace {

struct ControlHeader {
  u64 length;
  i32 level, type;
};
constexpr i32 kSocketLevel = 1, kRights = 1;
constexpr u32 kMostPassed = 253;

/// Descriptors in a control buffer, in order.
template <typename F>
void each_passed(u64 control, u64 size, F function) {
  for (u64 at = 0; at + sizeof(ControlHeader) <= size;) {
    ControlHeader h;
    if (!read_memory(h, control + at) || h.length < sizeof h || at + h.length > size) return;
    if (h.level == kSocketLevel && h.type == kRights)
      for (u64 i = 0; i < (h.length - sizeof h) / 4; ++i) {
        i32 fd;
        if (read_memory(fd, control + at + sizeof h + 4 * i)) function(fd);
      }
    at += (h.length + 7) & ~u64{7};
  }
}

FdKind kind_of(stage::ConnectionKind kind) {
  switch (kind) {
    case stage::ConnectionKind::kDatagram: return FdKind::kDatagram;
    case stage::ConnectionKind::kSequence: return FdKind::kSequence;
    case stage::ConnectionKind::kFifo: return FdKind::kFifo;
    default: return FdKind::kConnection;
  }
}

/// What a descriptor is, by the inode that both processes see; pipes have one for both ends.
u64 identity_key(int fd) {
  Stat s{};
  if (sys(__NR_fstat, fd, &s)) return 0;
  u64 mode = (u64)sys(__NR_fcntl, fd, 3, 0) & 3;
  return address_key(KeyOf::kPassed, s.dev, s.ino, (s.mode & kModeType) == kModeFifo ? mode : 0);
}

/// Standard output or error. Where both are one file, the place in the message tells which is which.
u64 passed_output_key(int fd, u32 place) {
  Stat s{};
  return sys(__NR_fstat, fd, &s) ? 0 : address_key(KeyOf::kPassedOutput, s.dev, s.ino, place);
}

void note_passed_output(int fd, u32 place, const Fd& entry) {
  u64 key = passed_output_key(fd, place);
  if (!key) return;
  if (entry.kind == FdKind::kOutput) put_address(key, entry.end);
  else if (find_address(key)) drop_address(key);  // the same file, but another use of it
}

Fd find_passed(int fd, u32 place) {
  Fd entry{};
  entry.kind = FdKind::kFile;
  if (u32 found = find_address(identity_key(fd))) {
    entry.kind = kind_of((stage::ConnectionKind)g.stage.connection(found / 2).kind);
    entry.object = found / 2;
    entry.end = (u8)(found % 2);
  } else if (u32 end = find_address(passed_output_key(fd, place))) {
    entry.kind = FdKind::kOutput;
    entry.end = (u8)end;
  }
  return entry;
}

void header_outs(Call& c, Exchange& x, u64 at) {
  MessageHeader m{};
  if (!at) return;
  x.out(at + offsetof(MessageHeader, name_length), 4);
  x.out(at + offsetof(MessageHeader, control_length), 8);
  x.out(at + offsetof(MessageHeader, flags), 4);
  read_memory(m, at);
  if (m.name) x.out(m.name, min<u64>(m.name_length, 128));
  if (m.control) x.out(m.control, min<u64>(m.control_length, 65536));
  Thread& t = c.t;
  if (!g.replay) {
    t.passed_count = 0;
    if (m.control)
      each_passed(m.control, m.control_length, [&](i32 fd) {
        if (t.passed_count == kMostPassed) return;
        t.passed[t.passed_count] = find_passed(fd, t.passed_count);
        ++t.passed_count;
      });
  }
  x.out((u64)&t.passed_count, 4);
  x.out((u64)t.passed, t.passed_count * sizeof(Fd));
}

void address_outs(Call& c, Exchange& x) {
  x.out(c.a[5], 4);
  u32 n = 0;
  read_memory(n, c.a[5]);
  x.out(c.a[4], min<u64>(n, 128));
}

bool wants_header(Call& c) { return c.number == __NR_recvmsg || c.number == __NR_recvmmsg; }
bool wants_address(Call& c) { return c.number == __NR_recvfrom && c.a[4] && c.a[5]; }

}  // namespace

bool has_beside(Call& c) { return wants_header(c) || wants_address(c); }

void beside_outs(Call& c, Exchange& x, long result) {
  if (result < 0) return;
  if (wants_header(c)) header_outs(c, x, c.a[1]);
  else if (wants_address(c)) address_outs(c, x);
}

void stored_outs(Exchange& x, const u64* a, long result) {
  if (result < 0) return;
  Call& c = x.call();
  if (c.number == __NR_recvmmsg && c.multiple) {
    for (long i = 0; i < result; ++i) {
      u64 at = a[1] + (u64)i * (sizeof(MessageHeader) + 8);
      x.out(at + sizeof(MessageHeader), 4);
      u32 length = 0;
      read_memory(length, at + sizeof(MessageHeader));
      MessageHeader m{};
      Buffers b;
      b.count = 0;
      b.total = 0;
      if (read_memory(m, at)) b.add_vectors(m.vectors, m.vector_count);
      each_part(b, length, [&](u64 base, u64 n) { x.out(base, n); });
      header_outs(c, x, at);
    }
    return;
  }
  Buffers b;
  fill_buffers(c, b);
  each_part(b, (u64)result, [&](u64 base, u64 n) { x.out(base, n); });
  beside_outs(c, x, result);
}

namespace {
void note_passed_with(u64 header) {
  MessageHeader m{};
  u32 place = 0;
  if (!read_memory(m, header) || !m.control) return;
  each_passed(m.control, m.control_length, [&](i32 fd) {
    Fd entry = get_fd(fd);
    if (has_end(entry)) put_address(identity_key(fd), entry.object * 2 + entry.end);
    else note_passed_output(fd, place, entry);
    ++place;
  });
}
}  // namespace

void note_passed_fds(Call& c) {
  constexpr u64 kMostMessages = 1024;  // of one call, as for the kernel
  if (g.replay) return;
  u64 count = c.number == __NR_sendmmsg ? min<u64>((u32)c.a[2], kMostMessages) : 1;
  for (u64 i = 0; i < count; ++i) note_passed_with(c.a[1] + i * (sizeof(MessageHeader) + 8));
}

void take_passed_fds(Call& c, long result) {
  Thread& t = c.t;
  MessageHeader m{};
  if (result < 0 || !t.passed_count || !read_memory(m, c.a[1]) || !m.control) return;
  u64 flags = c.number == __NR_recvmsg ? c.a[2] : c.a[3];
  u32 i = 0;
  each_passed(m.control, m.control_length, [&](i32 fd) {
    if (i >= t.passed_count) return;
    Fd entry = t.passed[i++];
    entry.cloexec = flags & 0x40000000;  // MSG_CMSG_CLOEXEC
    set_fd(fd, entry);
  });
  t.passed_count = 0;
}

}  // namespace pastcone::runtime

// The bytes of an entry in a lock stream; objects.h says what entries are, docs/trace-format.md (section 6) how they look.
//
// What a thread finds most often is an object that it had itself for `skip` operations and others for `rest` more. For the thread that had
// it in between it is the other way round: it skips what is the rest here. So both look the same, and the compressor finds one
// thread's entries in the other's.
#pragma once

#include "pastcone/patch/thread_abi.h"
#include "sys.h"

namespace pastcone::runtime {

enum class EntryKind : u8 { kAcquired = 0, kResult = 1, kBoth = 2 };

inline constexpr u64 kOneByte = 1 << 7, kTwoBytes = 1 << 14, kNegative = 1 << 6;
static_assert(SKIP_MOST == kOneByte);

/// Where skip would begin there are these two bits in an entry of no short form: a varint, skip << 4 | kind << 2 | 3.
inline constexpr u32 kLongBits = 2;
inline constexpr u64 kLongMark = 3;

inline u32 write_small(char* to, u64 value) {
  if (value < kOneByte) {
    to[0] = (char)(value << 1);
    return 1;
  }
  to[0] = (char)(value << 2 | 1);
  to[1] = (char)(value >> 6);
  return 2;
}

/// Writes kAcquired at `to`, where delta is skip + rest; how many bytes, or 0 if it is too much for the short form.
inline u32 write_short(char* to, u64 skip, i64 delta) {
  i64 rest = delta - (i64)skip;
  if (skip >= kTwoBytes || rest >= (i64)kTwoBytes || rest < -(i64)kNegative) return 0;
  u32 bytes = write_small(to, skip);
  if (rest >= 0) return bytes + write_small(to + bytes, (u64)rest);
  to[bytes] = (char)(~rest << 2 | 3);
  return bytes + 1;
}

/// `from` becomes what is behind it. Not for the mark of the long form.
inline u64 read_small(const char*& from) {
  u64 low = (u8)*from++;
  if (!(low & 1)) return low >> 1;
  return low >> 2 | (u64)(u8)*from++ << 6;
}

/// Reads one of at most `available` bytes; how many it has, or 0: it is a long one, or not all there.
inline u32 read_short(const char* from, u64 available, u64& skip, i64& delta) {
  auto size = [](char first) { return first & 1 ? 2u : 1u; };
  auto is_mark = [](char first) { return (first & kLongMark) == kLongMark; };
  u32 bytes = size(*from);
  if (is_mark(*from) || available <= bytes) return 0;
  bytes += is_mark(from[bytes]) ? 1 : size(from[bytes]);
  if (available < bytes) return 0;
  skip = read_small(from);
  i64 rest = is_mark(*from) ? ~(i64)((u8)*from >> 2) : (i64)read_small(from);
  delta = (i64)skip + rest;
  return bytes;
}

}  // namespace pastcone::runtime

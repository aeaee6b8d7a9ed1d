// The bytes of an entry in a lock stream; objects.h says what entries are, docs/trace-format.md (section 6) how they look.
//
// What a thread finds most often is an object that it had itself for some operations and others for some more: the version is
// then a little more than `skip` behind the one before. So the short forms keep the difference of the two.
#pragma once

#include "pastcone/patch/thread_abi.h"
#include "sys.h"

namespace pastcone::runtime {

enum class EntryKind : u8 { kAcquired = 0, kResult = 1, kBoth = 2 };

/// Form n begins with n ones and a zero, from the lowest bit on; then `skip_bits` of skip; the rest is delta - skip + `back`.
struct EntryForm {
  u8 bytes, skip_bits;
  i64 back;
};
inline constexpr u32 kForms = 3;
inline constexpr EntryForm kEntryForms[kForms] = {{2, 7, SHORT_BACK}, {3, 11, 512}, {3, 5, 32}};
static_assert(SKIP_MOST == 1 << 7);

/// The first byte of an entry of no such form, a varint: skip << 5 | kind << 3 | 7.
inline constexpr u32 kLongBits = kForms;
inline constexpr u64 kLongMark = (1 << kLongBits) - 1;

/// Writes an entry of a short form at `to`; how many bytes, or 0 if there is none for it.
inline u32 write_short(char* to, u64 skip, i64 delta) {
  for (u32 n = 0; n < kForms; ++n) {
    const EntryForm& form = kEntryForms[n];
    u32 used = n + 1 + form.skip_bits;
    u64 rest = (u64)(delta - (i64)skip + form.back);
    if (skip >> form.skip_bits || rest >> (form.bytes * 8 - used)) continue;
    u64 bits = ((u64{1} << n) - 1) | skip << (n + 1) | rest << used;
    for (u32 i = 0; i < form.bytes; ++i) to[i] = (char)(bits >> 8 * i);
    return form.bytes;
  }
  return 0;
}

/// Reads one of at most `available` bytes; how many it has, or 0: it is of no such form, or not all there.
inline u32 read_short(const char* from, u64 available, u64& skip, i64& delta) {
  auto n = (u32)__builtin_ctz(~(u32)(u8)*from);
  if (n >= kForms) return 0;
  const EntryForm& form = kEntryForms[n];
  if (available < form.bytes) return 0;
  u32 used = n + 1 + form.skip_bits;
  u64 bits = 0;
  for (u32 i = 0; i < form.bytes; ++i) bits |= (u64)(u8)from[i] << 8 * i;
  skip = bits >> (n + 1) & ((u64{1} << form.skip_bits) - 1);
  delta = (i64)(bits >> used) - form.back + (i64)skip;
  return form.bytes;
}

}  // namespace pastcone::runtime

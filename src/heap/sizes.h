// Size classes: steps of 16 bytes up to 256, then eight for every doubling, so that little is wasted. Blocks
// of a class are cut from spans, runs of pages that hold nothing else.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pastcone::heap {

inline constexpr unsigned kPageShift = 12;
inline constexpr size_t kPageSize = size_t{1} << kPageShift;
inline constexpr size_t kAlignment = 16;
inline constexpr size_t kSmallMax = 32768;  // larger blocks are runs of pages of their own
inline constexpr unsigned kClasses = 72;

/// The class of a small size; 0 is treated as 1.
constexpr unsigned class_of(size_t size) {
  size_t last = size - (size != 0);
  unsigned log = 63 - static_cast<unsigned>(__builtin_clzll(last | 128));
  return (log - 7) * 8 + static_cast<unsigned>(last >> (log - 3));
}

struct SizeClass {
  uint32_t size;
  uint32_t batch;  // blocks that change hands at once: about a page
  uint32_t pages;  // of a span
  uint32_t blocks;
};

struct SizeClasses {
  SizeClass of[kClasses];
  constexpr const SizeClass& operator[](unsigned c) const { return of[c]; }
};

constexpr SizeClass describe_class(unsigned c) {
  uint32_t size = c < 8 ? (c + 1) * 16 : (c % 8 + 9) << (c / 8 + 3);
  uint32_t batch = 4096 / size;
  batch = batch < 1 ? 1 : batch > 32 ? 32 : batch;
  // Spans are small, so that a few blocks that stay do not keep much memory; but at most 1/16 may be left
  // over at the end.
  uint32_t span = kPageSize, least = size < kPageSize ? 4 : 1;
  while (span / size < least || span % size > span / 16) span += kPageSize;
  return {size, batch, span >> kPageShift, span / size};
}

constexpr SizeClasses describe_classes() {
  SizeClasses all{};
  for (unsigned c = 0; c < kClasses; ++c) all.of[c] = describe_class(c);
  return all;
}

inline constexpr SizeClasses kSizes = describe_classes();

static_assert(class_of(kSmallMax) == kClasses - 1 && kSizes[kClasses - 1].size == kSmallMax);

}  // namespace pastcone::heap

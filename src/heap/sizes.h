// Size classes: steps of 16 bytes up to 264, then eight for every doubling, and sixteen above 1 KB, where
// there are few blocks of each and what is wasted is whole pages. A block has a header of eight bytes, so its
// size is eight less than a multiple of 16; and a power of two fits into a class with eight to spare.
#pragma once

#include <cstddef>
#include <cstdint>

namespace pastcone::heap {

inline constexpr unsigned kPageShift = 12;
inline constexpr size_t kPageSize = size_t{1} << kPageShift;
inline constexpr size_t kAlignment = 16;
inline constexpr size_t kUnit = 16;         // what blocks and the free memory between them are measured in
inline constexpr size_t kSmallMax = 32776;  // larger blocks are runs of pages of their own
inline constexpr unsigned kClasses = 112;

constexpr unsigned compute_class(size_t size) {
  size_t last = size < 9 ? 0 : size - 9;
  unsigned log = 63 - static_cast<unsigned>(__builtin_clzll(last | 128));
  if (log < 10) return (log - 7) * 8 + static_cast<unsigned>(last >> (log - 3));
  return (log - 9) * 16 + static_cast<unsigned>(last >> (log - 4));
}

/// Classes by (size + 7) / 16: looking is faster than computing.
struct ClassTable {
  uint8_t of[(kSmallMax + 7) / 16 + 1];
};

constexpr ClassTable tabulate_classes() {
  ClassTable table{};
  for (size_t i = 1; i < sizeof table.of; ++i) table.of[i] = static_cast<uint8_t>(compute_class(i * 16 + 8));
  return table;
}

inline constexpr ClassTable kClassTable = tabulate_classes();

/// The class of a small size.
constexpr unsigned class_of(size_t size) { return kClassTable.of[(size + 7) / 16]; }

struct SizeClass {
  uint32_t size;   // what the program may use
  uint32_t units;  // with the header
  uint32_t batch;  // blocks that change hands at once: about half a page
  uint32_t most;   // that a thread has in a list
};

struct SizeClasses {
  SizeClass of[kClasses];
  constexpr const SizeClass& operator[](unsigned c) const { return of[c]; }
};

constexpr SizeClass describe_class(unsigned c) {
  uint32_t size = (c < 8    ? (c + 1) * 16
                   : c < 32 ? (c % 8 + 9) << (c / 8 + 3)
                            : (c % 16 + 17) << (c / 16 + 4)) +
                  16;
  uint32_t batch = 2048 / size;
  batch = batch < 1 ? 1 : batch;
  return {size - 8, static_cast<uint32_t>(size / kUnit), batch, batch < 4 ? batch : 2 * batch};
}

constexpr SizeClasses describe_classes() {
  SizeClasses all{};
  for (unsigned c = 0; c < kClasses; ++c) all.of[c] = describe_class(c);
  return all;
}

inline constexpr SizeClasses kSizes = describe_classes();

static_assert(class_of(kSmallMax) == kClasses - 1 && kSizes[kClasses - 1].size == kSmallMax);

}  // namespace pastcone::heap

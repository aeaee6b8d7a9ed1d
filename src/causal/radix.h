// Sorting millions of small records by an integer key, in linear time and stably.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace pastcone::causal {

/// The places 0 … count - 1 in the order of key(place), equal ones as they were.
template <typename Key>
std::vector<uint32_t> sorted_places(uint32_t count, Key key) {
  struct Item {
    uint64_t key;
    uint32_t place;
  };
  std::vector<uint32_t> places(count);
  bool sorted = true;
  uint64_t differ = 0, first = count > 0 ? key(0) : 0, last = first;  // differ: bits in which keys do
  for (uint32_t i = 0; i < count; ++i) {
    uint64_t next = key(i);
    sorted = sorted && last <= next;
    differ |= next ^ first;
    last = next;
    places[i] = i;
  }
  if (sorted) return places;
  auto items = std::make_unique_for_overwrite<Item[]>(count),
       other = std::make_unique_for_overwrite<Item[]>(count);
  for (uint32_t i = 0; i < count; ++i) items[i] = {key(i), i};
  constexpr unsigned kBits = 11;
  constexpr uint64_t kMask = (1u << kBits) - 1;
  for (unsigned shift = 0; shift < 64; shift += kBits) {
    if ((differ >> shift & kMask) == 0) continue;
    std::array<uint32_t, kMask + 2> start{};
    for (uint32_t i = 0; i < count; ++i) ++start[(items[i].key >> shift & kMask) + 1];
    for (size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
    for (uint32_t i = 0; i < count; ++i) other[start[items[i].key >> shift & kMask]++] = items[i];
    std::swap(items, other);
  }
  for (uint32_t i = 0; i < count; ++i) places[i] = items[i].place;
  return places;
}

}  // namespace pastcone::causal

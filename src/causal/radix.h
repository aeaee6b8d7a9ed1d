// Sorting millions of small records by an integer key, in linear time and stably.
#pragma once

#include <array>
#include <cstdint>
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
  std::vector<Item> items(count);
  bool sorted = true;
  uint64_t seen = 0;  // bits in which keys differ
  for (uint32_t i = 0; i < count; ++i) {
    items[i] = {key(i), i};
    if (i > 0) {
      sorted = sorted && items[i - 1].key <= items[i].key;
      seen |= items[i].key ^ items[0].key;
    }
  }
  if (!sorted) {
    std::vector<Item> other(count);
    constexpr unsigned kBits = 11;
    for (unsigned shift = 0; shift < 64; shift += kBits) {
      if ((seen >> shift & ((1u << kBits) - 1)) == 0) continue;
      std::array<uint32_t, (1u << kBits) + 1> start{};
      for (const Item& item : items) ++start[(item.key >> shift & ((1u << kBits) - 1)) + 1];
      for (size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
      for (const Item& item : items) other[start[item.key >> shift & ((1u << kBits) - 1)]++] = item;
      std::swap(items, other);
    }
  }
  std::vector<uint32_t> places(count);
  for (uint32_t i = 0; i < count; ++i) places[i] = items[i].place;
  return places;
}

}  // namespace pastcone::causal

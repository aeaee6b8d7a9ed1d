// Sorting millions of small records by an integer key, in linear time and stably.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace pastcone::causal {

/// A part of sorted_places(). Digits are small, so that the places that are written to lie in the caches.
template <typename Number, typename Key>
void sort_places(std::vector<uint32_t>& places, Key key, Number differ) {
  struct Item {
    Number key;
    uint32_t place;
  };
  constexpr unsigned kMaxBits = 9;
  auto count = static_cast<uint32_t>(places.size());
  auto items = std::make_unique_for_overwrite<Item[]>(count),
       other = std::make_unique_for_overwrite<Item[]>(count);
  for (uint32_t i = 0; i < count; ++i) items[i] = {static_cast<Number>(key(i)), i};
  for (unsigned shift = 0; shift < sizeof(Number) * 8 && differ >> shift != 0;) {
    shift += static_cast<unsigned>(std::countr_zero(static_cast<Number>(differ >> shift)));
    auto left = static_cast<unsigned>(std::bit_width(static_cast<Number>(differ >> shift)));
    unsigned bits = (left + (left + kMaxBits - 1) / kMaxBits - 1) / ((left + kMaxBits - 1) / kMaxBits);
    Number mask = (Number{1} << bits) - 1;
    std::array<uint32_t, (1u << kMaxBits) + 1> start{};
    for (uint32_t i = 0; i < count; ++i) ++start[(items[i].key >> shift & mask) + 1];
    for (size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
    for (uint32_t i = 0; i < count; ++i) other[start[items[i].key >> shift & mask]++] = items[i];
    std::swap(items, other);
    shift += bits;
  }
  for (uint32_t i = 0; i < count; ++i) places[i] = items[i].place;
}

/// The places 0 … count - 1 in the order of key(place), equal ones as they were.
template <typename Key>
std::vector<uint32_t> sorted_places(uint32_t count, Key key) {
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
  if (differ <= UINT32_MAX) {
    sort_places<uint32_t>(places, key, static_cast<uint32_t>(differ));
  } else {
    sort_places<uint64_t>(places, key, differ);
  }
  return places;
}

}  // namespace pastcone::causal

// Replay: where memory that processes share lies in the store, by the number of its object.
#pragma once

#include <cstdint>

namespace pastcone::stage {

inline constexpr uint64_t kSharedBase = uint64_t{1} << 43, kSharedRoom = uint64_t{1} << 33;

/// Whose room it is in; 0: that of none.
constexpr uint64_t shared_object_at(uint64_t place) {
  return place < kSharedBase ? 0 : (place - kSharedBase) / kSharedRoom;
}

}  // namespace pastcone::stage

// Who has come along one trail, and where on another that is.
#pragma once

#include <optional>

#include "pastcone/debug/state.h"

namespace pastcone::debug {

/// How far along a trail: so many moves, and so often what the next one counts.
struct TrailPlace {
  size_t moves = 0;
  uint64_t counted = 0;
  bool operator==(const TrailPlace&) const = default;
};
/// Where on `trail` one is who has come along `so_far`. None: it does not lead there.
std::optional<TrailPlace> place_on(const Trail& trail, const Trail& so_far);

}  // namespace pastcone::debug

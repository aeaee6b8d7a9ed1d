#include "pastcone/debug/trail_place.h"

#include <algorithm>

namespace pastcone::debug {
namespace {

/// Points of locks are counted from the thread's beginning, and what was interrupted is nowhere.
bool counts_from_before(const Move& move) {
  return move.kind != Move::Kind::kPoints && move.kind != Move::Kind::kLost;
}

}  // namespace

std::optional<TrailPlace> place_on(const Trail& trail, const Trail& so_far) {
  auto moves = static_cast<size_t>(std::ranges::mismatch(trail, so_far).in1 - trail.begin());
  if (moves == so_far.size()) {
    bool lost = moves < trail.size() && moves > 0 && so_far.back().kind == Move::Kind::kLost;
    return lost ? std::nullopt : std::optional(TrailPlace{moves, 0});
  }
  if (moves + 1 != so_far.size() || moves == trail.size()) return std::nullopt;
  const Move& last = so_far.back();
  Move rest = trail[moves];
  rest.count = last.count;
  bool begun = rest == last && counts_from_before(last) && last.count < trail[moves].count;
  return begun ? std::optional(TrailPlace{moves, last.count}) : std::nullopt;
}

}  // namespace pastcone::debug

// `stop if` and `trace` of `pastcone debug`: the predicates that were set, and the states that they are looked for in.
#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "pastcone/debug/parts.h"
#include "pastcone/debug/predicate.h"
#include "pastcone/debug/state.h"

namespace pastcone::cli {

struct SetPredicate {
  std::string text;  ///< as it is understood
  debug::Predicate predicate;
  debug::Plan plan;
  std::vector<debug::TracedValue> values;  ///< of a trace; empty: it stops
  uint64_t held = 0;                       ///< so often it was stopped at, or traced

  std::vector<debug::State> known;         ///< where it was stopped at, or up to where it was traced
  bool enabled = true;
  debug::Telling telling = debug::Telling::kAllowed;
  /// What the links before the last one reach, from the beginning of the run.
  std::optional<std::vector<debug::Reached>> past;

  bool traces() const { return !values.empty(); }
  void note(debug::State state) {
    if (std::ranges::find(known, state) == known.end()) known.push_back(std::move(state));
  }
};

/// A state in which one holds.
struct HeldState {
  int number = 0;
  debug::State state;
  std::vector<ThreadId> threads;  ///< which have made its parts hold, in their order
  ThreadId focus;                 ///< the first is about this one
};

/// Of two states one behind the other, the later one's is greater.
inline uint64_t size_of(const debug::State& state) {
  return std::accumulate(state.cut.begin(), state.cut.end(), uint64_t{0});
}

}  // namespace pastcone::cli

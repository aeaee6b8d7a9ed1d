// States of the whole run, between events too.
//
// A replay is exact, so whatever a thread does from the end of an event on it does again: a place in the
// middle of a computation is named by the event before it and the *trail* from there, the moves that lead to
// it. That needs no counting of instructions, which only performance counters could do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "pastcone/base/ids.h"
#include "pastcone/causal/cone.h"

namespace pastcone::debug {

struct Move {
  enum class Kind : uint8_t {
    kSteps,  ///< so many instructions of the program; the first one leaves the event
    kBreak,  ///< until it has come to the address so many times
    kWatch,  ///< until it has written so many times to `size` bytes there
    kAccess, ///< until it has read or written them so many times
    kPoints, ///< until it has passed so many points of its locks, counted from its beginning; the first move
    kLost,   ///< somewhere behind: it was interrupted
  };
  Kind kind = Kind::kSteps;
  uint32_t size = 0;
  uint64_t count = 1;
  uint64_t address = 0;

  bool operator==(const Move&) const = default;
};
using Trail = std::vector<Move>;

struct State {
  causal::Cut cut;                   ///< the last step of each thread
  std::map<ThreadId, Trail> trails;  ///< of those that have gone on from there, into their program

  /// Somebody was interrupted in the middle of a computation.
  bool is_lost() const {
    return std::ranges::any_of(trails, [](const auto& entry) {
      return std::ranges::find(entry.second, Move::Kind::kLost, &Move::kind) != entry.second.end();
    });
  }
  bool operator==(const State&) const = default;
};

}  // namespace pastcone::debug

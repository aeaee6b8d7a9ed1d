// All receives that raced, one after the other, with what raced for each. Takes time for the answer alone:
// Races::rivals() looks through all that raced at the same place.
//
//   RivalWalk walk(races);
//   while (const RacyReceive* receive = walk.next()) { … walk.rivals() … }
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pastcone/causal/races.h"

namespace pastcone::causal {

class RivalWalk {
 public:
  /// The races must outlive it.
  explicit RivalWalk(const Races& races);

  /// By contest, thread and event; nullptr: that was the last.
  const RacyReceive* next();
  /// Of that one: places in Contests::messages, ascending.
  std::span<const uint32_t> rivals() const { return rivals_; }

 private:
  const Races& races_;
  std::vector<uint32_t> receives_;   ///< places in Races::receives, in the order of Races::list_
  std::vector<uint32_t> intervals_;  ///< places in Races::intervals_, by where they begin
  std::vector<uint32_t> open_;       ///< of these, those that the walk is in, and some that it has left
  size_t next_receive_ = 0, next_interval_ = 0;
  std::vector<uint32_t> rivals_;
};

}  // namespace pastcone::causal

// Numbers for what happens between events. An ordered lock operation is no event and has none, but edges lead
// from one to another; giving them to the events around them would make cycles of what was none (a thread may
// release one lock and take another between two events, and its peer the other way round). So a thread with
// such operations is put into the graph by *steps*: its events and these operations, counted together from 1.
// Everywhere in the graph "event" is then a step; this leads back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "pastcone/causal/model.h"

namespace pastcone::causal {

/// The steps of one thread.
class Steps {
 public:
  Steps() = default;
  /// `after`, ascending: for each operation the last event before it (0: none).
  Steps(uint32_t events, std::vector<uint32_t> after) : events_(events), after_(std::move(after)) {}

  uint32_t count() const { return events_ + static_cast<uint32_t>(after_.size()); }
  uint32_t of_event(uint32_t event) const {
    return event + static_cast<uint32_t>(std::ranges::lower_bound(after_, event) - after_.begin());
  }
  uint32_t of_operation(uint32_t number) const { return after_[number] + number + 1; }

  /// What has happened when a step is done: an entry of a cut as users know it.
  struct State {
    uint32_t event;       ///< the last
    uint32_t operations;  ///< of all
    bool operator==(const State&) const = default;
  };
  State at(uint32_t step) const {
    uint32_t low = 0, high = static_cast<uint32_t>(after_.size());
    while (low < high) {  // operations up to the step
      uint32_t middle = (low + high) / 2;
      if (of_operation(middle) <= step) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return {step - low, low};
  }

 private:
  uint32_t events_ = 0;
  std::vector<uint32_t> after_;
};

}  // namespace pastcone::causal

// A time for every step of a graph, though the program read clocks only here and there.
//
// Known are the start of each thread, and what the program read. Between two known times of a thread, its
// steps are spread evenly; but nothing comes before what it depends on: a step is later, by a nanosecond at
// least, than the one before it in its thread and than the sources of the edges into it, and earlier than
// what depends on it. So no arrow goes back. A known time that contradicts the order (clocks of several
// hosts, a clock that was set) is moved later, never earlier. After a thread's last known time, where nobody
// else's bounds it, its steps are half a microsecond apart.
//
// Three walks over the graph by rank; 20 bytes a step.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pastcone/causal/graph.h"

namespace pastcone::exports {

struct KnownTime {
  causal::Node at;
  int64_t ns = 0;
};

class Times {
 public:
  /// Known times may come in any order.
  Times(const causal::Graph& graph, std::span<const KnownTime> known);

  /// CLOCK_REALTIME.
  int64_t at(causal::Node node) const { return times_[first_[node.thread] + node.event - 1]; }
  /// The earliest of all; 0 if there is no step.
  int64_t begin() const { return begin_; }

 private:
  std::vector<size_t> first_;  ///< of each thread
  std::vector<int64_t> times_;
  int64_t begin_ = 0;
};

}  // namespace pastcone::exports

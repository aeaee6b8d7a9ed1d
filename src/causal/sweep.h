// A walk over all groups by rising rank with the vectors at hand: for questions about every event, where a
// cone each would take too long. One vector per running thread, and one for each state of a thread that an
// edge still has to come from, are in memory; if these take more than a limit, the newest are dropped, and
// found again as cones when they are needed.
#pragma once

#include <cstdint>
#include <span>

#include "pastcone/causal/graph.h"

namespace pastcone::causal {

/// What an edge brings: the vector of its source's thread there. The entry of that thread itself is
/// `from.event`, whatever the row says; without a row, all others are 0.
struct Incoming {
  uint32_t edge;
  Node from;
  const uint32_t* row;

  uint32_t at(uint32_t thread) const {
    return thread == from.thread ? from.event : row != nullptr ? row[thread] : 0;
  }
};

class SweepVisitor {
 public:
  virtual ~SweepVisitor() = default;

  /// Before a group's edges are followed. `before` is its thread's vector then (nullptr: it knows nothing).
  virtual void incoming(uint32_t /*group*/, const uint32_t* /*before*/, std::span<const Incoming> /*edges*/) {
  }
  /// `row` holds for all events from this group to before the next, but for the thread's own entry, which is
  /// the event. Group kNone: from the thread's first event on; row is nullptr then.
  virtual void epoch(uint32_t /*thread*/, uint32_t /*group*/, const uint32_t* /*row*/) {}
};

inline constexpr uint64_t kVectorBytes = uint64_t{384} << 20;

/// Follows the edges that the anchors are for.
void sweep(const Graph& graph, const Anchors& anchors, SweepVisitor& visitor,
           uint64_t vector_bytes = kVectorBytes);

/// Makes anchors for edges of these kinds; the visitor, if there is one, comes along.
Anchors make_anchors(const Graph& graph, Kinds kinds, uint32_t spacing, uint64_t vector_bytes = kVectorBytes,
                     SweepVisitor* visitor = nullptr);

}  // namespace pastcone::causal

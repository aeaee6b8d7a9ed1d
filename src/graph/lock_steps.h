// Makes steps of those points of locks that edges begin or end at. Until then all of an execution is counted
// in the steps of events alone (steps.h).
#pragma once

#include <vector>

#include "pastcone/causal/model.h"
#include "pastcone/graph/facts.h"

namespace pastcone::graph {

struct LockEdge {
  Place from, to;
  causal::EdgeKind kind = causal::EdgeKind::kObject;
  uint32_t label = causal::kNone;
  uint64_t since_step = 0,
           since_point = 0;  ///< of an object: where the thread of `from` had got it; point 0: there
};

/// All who came to a barrier at once; `object` as in causal::BarrierInput.
struct LockMeeting {
  uint32_t object = 0;
  std::vector<Place> arrivals, departures;
};

struct LockEdges {
  std::vector<LockEdge> edges;
  std::vector<LockMeeting> meetings;
};

/// Counts everything in `execution` anew, and adds the edges. Those that lead to places it does not have are
/// left out.
void add_lock_steps(const LockEdges& locks, causal::Execution& execution);

}  // namespace pastcone::graph

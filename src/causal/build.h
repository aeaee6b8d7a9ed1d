// Makes the event graph of an execution: derives the edges that channels, objects, barriers and creations
// imply, puts all edges in order, ranks the events and stores the anchors. Time is linear in events and edges
// (edges are sorted by radix), plus one join of vectors for each edge.
#pragma once

#include <string>

#include "pastcone/base/result.h"
#include "pastcone/causal/graph.h"
#include "pastcone/causal/sweep.h"

namespace pastcone::causal {

struct BuildOptions {
  Kinds kinds = kAllKinds;               ///< edges of other kinds are left out
  uint32_t anchor_spacing = 0;           ///< groups from one anchor to the next; 0: by the number of threads
  uint64_t vector_bytes = kVectorBytes;  ///< for vectors, while building: see sweep.h
  std::string (*name)(const Graph&, Node) = nullptr;  ///< of a node, for errors; none: thread and event
};

/// Uses the execution up, so that both need not be in memory at once. An error if it contradicts itself: a
/// thread that is not there, a position sent twice, a cycle.
Result<Graph> build(Execution&& execution, const BuildOptions& options = {});

}  // namespace pastcone::causal

// Edges that follow from what a replay tells of locks and their like: who gave a thing back that another took
// next, who met at a barrier, who was woken by whom, who was waited for.
//
// Where a replay only keeps to an order that says nothing about the program (who allocated memory first, who
// came to a barrier first, who mapped memory first) the edge is a hand-over.
#pragma once

#include "pastcone/causal/model.h"
#include "pastcone/graph/facts.h"
#include "pastcone/graph/lock_steps.h"

namespace pastcone::graph {

/// `parallel`: how it was recorded. In serial mode threads do not stop at points, and a use lies in the step
/// between two events.
LockEdges find_lock_edges(const Facts& facts, bool parallel);

}  // namespace pastcone::graph

// Condition variables: who was woken by whom. The recording does not say, but who signals while it has the
// mutex that the other one waits with comes before it for certain: the first one to do so while it waited.
#pragma once

#include "pastcone/graph/facts.h"
#include "pastcone/graph/lock_steps.h"

namespace pastcone::graph {

void add_wakes(const Facts& facts, LockEdges& into);

}  // namespace pastcone::graph

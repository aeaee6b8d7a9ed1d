// Edges that follow from facts: ends of file, readiness, listeners.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "pastcone/causal/model.h"
#include "pastcone/graph/facts.h"
#include "pastcone/graph/opens.h"

namespace pastcone::graph {

/// `execution` has its channels and transfers already. What is not sure is left out: which bytes made an end
/// ready that several threads receive from, and who of several acceptors could have had a connection. Returns
/// the pids of processes whose ends were told of by a descriptor, and where.
std::vector<std::pair<uint32_t, causal::Node>> add_fact_edges(const Facts& facts, const Opens& opens,
                                                              const std::map<ThreadId, uint32_t>& thread_of,
                                                              causal::Execution& execution);

}  // namespace pastcone::graph

// Events of the graph as users write them: its nodes are steps (steps.h), and hubs are not threads.
#pragma once

#include <string>

#include "pastcone/base/ids.h"
#include "pastcone/base/result.h"
#include "pastcone/causal/graph.h"

namespace pastcone::graph {

/// The last event of a thread that is in the recording.
uint64_t last_event(const causal::Graph& graph, uint32_t thread);

/// The event that the step belongs to, or the last one there is, if the thread was cut off on its way into
/// the next.
EventId event_of(const causal::Graph& graph, causal::Node node);

/// "p3:1041"; of a hub "barrier 2:17", the 17th round of the second barrier.
std::string name_of(const causal::Graph& graph, causal::Node node);

/// From where on the event, which the step leaves, can be a cause: what it does may be seen before it is
/// left, as when a connection is accepted while its connect still waits for the turn.
causal::Node cause(const causal::Graph& graph, causal::Node event, causal::Order order);

/// Leaving the event. An error says what there is instead.
Result<causal::Node> find_event(const causal::Graph& graph, EventId event);

}  // namespace pastcone::graph

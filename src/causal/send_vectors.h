// Send-event vectors, as P4 keeps them at run time: entry i counts the sends of thread i that an event can
// know of. Here they are read off the event's cone when somebody asks.
//
// P4 rolls each other process back to just after the send that the vector names. That is the least consistent
// cut only where messages are the only edges; with Sends::kEdges, which counts every event that a causal edge
// leaves from, it always is.
#pragma once

#include <cstdint>
#include <vector>

#include "pastcone/causal/graph.h"

namespace pastcone::causal {

enum class Sends : uint8_t { kMessages, kEdges };

/// One entry for each real thread.
std::vector<uint32_t> send_vector(const Graph& graph, Node event, Sends which = Sends::kMessages);

/// The event of a thread's n-th send, counted from 1; for 0, and for more than there are, event 0.
Node send_number(const Graph& graph, uint32_t thread, uint32_t number, Sends which = Sends::kMessages);

}  // namespace pastcone::causal

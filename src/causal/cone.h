// Happened-before, and the past and the future of events, by the anchors that graph.h explains.
//
// With T threads and anchors every n groups, a past cone takes at most T joins of vectors and a look at T·n
// groups; a future cone a binary search in the anchors of each thread and the same look. happened_before() is
// a past cone that ends as soon as the answer is known: who asks about many events and one b takes b's cone
// once.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pastcone/causal/graph.h"

namespace pastcone::causal {

/// The last event of each thread that is in it; 0: none, which for most threads is "not created yet".
using Cut = std::vector<uint32_t>;

/// The least consistent cut that contains the events. An event of a thread with index 0 asks for nothing.
Cut past_cone(const Graph& graph, std::span<const Node> events, Order order = Order::kCausal);
Cut past_cone(const Graph& graph, Node event, Order order = Order::kCausal);
/// The same by the edges that the anchors were made for. They need to reach only as far as the events.
Cut past_cone(const Graph& graph, const Anchors& anchors, std::span<const Node> events);

/// Of each thread the first event that is one of these or came after one of them; one more than it has if
/// there is none. Less one each, it is the greatest consistent cut without them.
std::vector<uint32_t> future_cone(const Graph& graph, std::span<const Node> events,
                                  Order order = Order::kCausal);

/// Whether a came before b; no event came before itself.
bool happened_before(const Graph& graph, Node a, Node b, Order order = Order::kCausal);
/// Different, and neither came before the other.
bool concurrent(const Graph& graph, Node a, Node b, Order order = Order::kCausal);

}  // namespace pastcone::causal

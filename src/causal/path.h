// Proofs of happened-before: chains of edges from one event to another.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "pastcone/causal/graph.h"

namespace pastcone::causal {

/// An edge as it is shown: from a real thread to a real thread, what goes through a barrier's hub being one.
struct Arrow {
  Node from, to;
  EdgeKind kind = EdgeKind::kMessage;
  uint32_t label = kNone;

  bool operator==(const Arrow&) const = default;
};

/// The send that a message's arrow begins at, by its place in Graph::sends; kNone if it is not of a channel.
uint32_t message_of(const Graph& graph, const Arrow& arrow);

/// The arrows of a chain from a to b, in order; between them lies program order. It is the chain by which
/// each thread on it learnt of a first, so it passes each thread at most once. None if a did not come before
/// b.
std::optional<std::vector<Arrow>> witness_path(const Graph& graph, Node a, Node b,
                                               Order order = Order::kCausal);

/// A chain of millions of arrows is found in milliseconds; to see them all takes longer.
struct Chain {
  uint64_t events = 0;               ///< on it, with both ends
  std::span<const uint32_t> edges;   ///< on it, in order; those into and out of hubs too
  std::unique_ptr<uint32_t[]> room;  ///< where they lie

  std::vector<Arrow> arrows(const Graph& graph) const;
};

/// The chain from a to b with the most events. Looks at every edge between them, once.
std::optional<Chain> longest_chain(const Graph& graph, Node a, Node b, Order order = Order::kCausal);

}  // namespace pastcone::causal

// Cuts that somebody chose: whether they are states that could have been, and what is missing if not.
#pragma once

#include <optional>
#include <span>

#include "pastcone/causal/cone.h"
#include "pastcone/causal/path.h"

namespace pastcone::causal {

/// An arrow from outside into the cut; none if the cut is consistent. Entries of hubs are not looked at and
/// may be left out.
std::optional<Arrow> entering_arrow(const Graph& graph, std::span<const uint32_t> cut,
                                    Order order = Order::kCausal);
inline bool consistent(const Graph& graph, std::span<const uint32_t> cut, Order order = Order::kCausal) {
  return !entering_arrow(graph, cut, order);
}

/// A causal distributed breakpoint (P5, after Fowler and Zwaenepoel): each thread at the earliest state that
/// reflects all that came before the given ones.
struct Breakpoint {
  Cut cut;
  /// Why the events given cannot all be the last of their threads: an arrow from behind one of them into
  /// another's past. The cut then goes beyond that one.
  std::optional<Arrow> conflict;
};

Breakpoint causal_breakpoint(const Graph& graph, std::span<const Node> events, Order order = Order::kCausal);

}  // namespace pastcone::causal

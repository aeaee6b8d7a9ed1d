#include "pastcone/causal/cut.h"

#include <algorithm>

#include "pastcone/base/check.h"

namespace pastcone::causal {

std::optional<Arrow> entering_arrow(const Graph& graph, std::span<const uint32_t> cut, Order order) {
  CHECK(cut.size() >= graph.real_threads);
  std::vector<Node> frontier;
  for (uint32_t thread = 0; thread < graph.real_threads; ++thread) frontier.push_back({thread, cut[thread]});
  Cut closed = past_cone(graph, frontier, order);
  auto missing = std::ranges::find_if(frontier, [&](Node node) { return closed[node.thread] > node.event; });
  if (missing == frontier.end()) return {};

  // A way from the first event that is missing to one that is in the cut. Program order does not lead into a
  // cut, so an arrow of it does.
  Node outside{missing->thread, missing->event + 1};
  std::vector<uint32_t> future = future_cone(graph, std::span(&outside, 1), order);
  auto inside = std::ranges::find_if(frontier, [&](Node node) { return future[node.thread] <= node.event; });
  CHECK(inside != frontier.end());
  auto path = witness_path(graph, outside, *inside, order);
  CHECK(path);
  auto enters = [&](const Arrow& arrow) {
    return arrow.from.event > cut[arrow.from.thread] && arrow.to.event <= cut[arrow.to.thread];
  };
  auto arrow = std::ranges::find_if(*path, enters);
  CHECK(arrow != path->end());
  return *arrow;
}

Breakpoint causal_breakpoint(const Graph& graph, std::span<const Node> events, Order order) {
  Breakpoint breakpoint{past_cone(graph, events, order), {}};
  for (Node event : events) {
    if (breakpoint.cut[event.thread] == event.event) continue;
    Cut wanted = breakpoint.cut;
    wanted[event.thread] = event.event;
    breakpoint.conflict = entering_arrow(graph, wanted, order);
    if (breakpoint.conflict) break;
  }
  return breakpoint;
}

}  // namespace pastcone::causal

#include "pastcone/graph/steps.h"

#include <algorithm>

namespace pastcone::graph {

using causal::Graph;
using causal::Node;

namespace {

std::span<const uint32_t> between(const Graph& graph, uint32_t thread) {
  return graph.threads[thread].hub() ? std::span<const uint32_t>() : graph.between.of(thread);
}

}  // namespace

uint32_t plain_step(const Graph& graph, Node node) {
  auto steps = between(graph, node.thread);
  return node.event - static_cast<uint32_t>(std::ranges::upper_bound(steps, node.event) - steps.begin());
}

Node find_step(const Graph& graph, uint32_t thread, uint32_t plain) {
  auto steps = between(graph, thread);
  uint32_t low = 0, high = static_cast<uint32_t>(steps.size());
  while (low < high) {  // the i-th of them has `steps[i] - i - 1` plain ones before it
    uint32_t middle = (low + high) / 2;
    if (steps[middle] - middle - 1 < plain) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return {thread, plain + low};
}

Node find_step(const Graph& graph, uint32_t thread, uint32_t plain, uint64_t points) {
  auto steps = between(graph, thread);
  auto first = graph.points.begin() + graph.between.first[thread];
  auto passed = std::upper_bound(first, first + static_cast<ptrdiff_t>(steps.size()), points);
  return {thread, plain + static_cast<uint32_t>(passed - first)};
}

uint32_t point_at(const Graph& graph, Node node) {
  auto steps = between(graph, node.thread);
  auto found = std::ranges::lower_bound(steps, node.event);
  if (found == steps.end() || *found != node.event) return 0;
  return graph.points[graph.between.first[node.thread] + static_cast<uint32_t>(found - steps.begin())];
}

}  // namespace pastcone::graph

#include "pastcone/graph/names.h"

#include <algorithm>

#include "pastcone/graph/steps.h"

namespace pastcone::graph {

using causal::Graph;
using causal::Node;

uint64_t last_event(const Graph& graph, uint32_t thread) {
  return event_at(graph, {thread, graph.threads[thread].events});
}

EventId event_of(const Graph& graph, Node node) {
  uint64_t event = event_of_step(graph, node);
  return {graph.thread_id(node.thread), std::min(event, last_event(graph, node.thread))};
}

std::string name_of(const Graph& graph, Node node) {
  if (!graph.threads[node.thread].hub()) return to_string(event_of(graph, node));
  return fmt::format("barrier {}:{}", node.thread - graph.real_threads + 1, node.event);
}

Node cause(const Graph& graph, Node event, causal::Order order) {
  if (order != causal::Order::kCausal) return event;
  return find_step(graph, event.thread, plain_step(graph, event) - 1);
}

Result<Node> find_event(const Graph& graph, EventId event) {
  auto thread = graph.find(event.thread());
  if (!thread) {
    return fail("there is no {} in this recording; `pastcone ps` shows its processes", event.thread());
  }
  uint64_t last = last_event(graph, *thread);
  if (event.index() >= 1 && event.index() <= last) return find_step(graph, *thread, leaving(event.index()));
  return fail("there is no event {}: the last of {} is {}", event, event.thread(), last);
}

}  // namespace pastcone::graph

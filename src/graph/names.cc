#include "pastcone/graph/names.h"

#include <algorithm>

#include "pastcone/graph/steps.h"

namespace pastcone::graph {

using causal::Graph;
using causal::Node;

uint64_t last_event(const Graph& graph, uint32_t thread) { return event_at(graph.threads[thread].events); }

EventId event_of(const Graph& graph, Node node) {
  uint64_t event = event_at(node.event + 1);
  return {graph.thread_id(node.thread), std::min(event, last_event(graph, node.thread))};
}

std::string name_of(const Graph& graph, Node node) {
  if (!graph.threads[node.thread].hub()) return to_string(event_of(graph, node));
  return fmt::format("barrier {}:{}", node.thread - graph.real_threads + 1, node.event);
}

Node cause(Node event, causal::Order order) {
  return order == causal::Order::kCausal ? before(event) : event;
}

Result<Node> find_event(const Graph& graph, EventId event) {
  auto thread = graph.find(event.thread());
  if (!thread) {
    return fail("there is no {} in this recording; `pastcone ps` shows its processes", event.thread());
  }
  uint64_t last = last_event(graph, *thread);
  if (event.index() >= 1 && event.index() <= last) return Node{*thread, leaving(event.index())};
  return fail("there is no event {}: the last of {} is {}", event, event.thread(), last);
}

}  // namespace pastcone::graph

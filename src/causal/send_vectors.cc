#include "pastcone/causal/send_vectors.h"

#include <algorithm>

#include "pastcone/causal/cone.h"

namespace pastcone::causal {
namespace {

const ByThread& list_of(const Graph& graph, Sends which) {
  return which == Sends::kMessages ? graph.sends_by_thread() : graph.sources();
}

uint32_t event_of(const Graph& graph, uint32_t item, Sends which) {
  return which == Sends::kMessages ? graph.sends[item].at.event : item;
}

}  // namespace

std::vector<uint32_t> send_vector(const Graph& graph, Node event, Sends which) {
  Cut cone = past_cone(graph, event);
  std::vector<uint32_t> vector(graph.real_threads);
  for (uint32_t thread = 0; thread < graph.real_threads; ++thread) {
    auto items = list_of(graph, which).of(thread);
    auto known = [&](uint32_t item) { return event_of(graph, item, which) <= cone[thread]; };
    vector[thread] = static_cast<uint32_t>(std::ranges::partition_point(items, known) - items.begin());
  }
  return vector;
}

Node send_number(const Graph& graph, uint32_t thread, uint32_t number, Sends which) {
  auto items = list_of(graph, which).of(thread);
  if (number == 0 || number > items.size()) return {thread, 0};
  return {thread, event_of(graph, items[number - 1], which)};
}

}  // namespace pastcone::causal

// The columns of a graph in the order in which they lie in its flat form. A part of flat.h.
#pragma once

#include "pastcone/causal/graph.h"

namespace pastcone::causal {

inline constexpr uint32_t kFlatColumns = 31;

template <typename AnyGraph, typename Visit>
void each_column(AnyGraph& graph, Visit visit) {
  visit(graph.threads);
  visit(graph.first_group);
  visit(graph.groups);
  visit(graph.edges);
  visit(graph.kinds);
  visit(graph.order);
  for (auto* list : {&graph.sources, &graph.sends_by_thread, &graph.receives_by_thread}) {
    visit(list->first);
    visit(list->items);
  }
  for (auto* anchors : {&graph.causal, &graph.enforced}) {
    visit(anchors->first);
    visit(anchors->vectors);
  }
  visit(graph.channels);
  visit(graph.sends);
  visit(graph.receives);
  visit(graph.first_send);
  visit(graph.first_receive);
  for (auto* lanes : {&graph.send_lanes, &graph.receive_lanes}) {
    visit(lanes->lanes);
    visit(lanes->items);
    visit(lanes->of_channel);
  }
  visit(graph.accesses);
  visit(graph.ports);
  visit(graph.arrivals);
  visit(graph.takings);
}

/// Whether every index in the graph leads somewhere, and everything that has to be in order is.
Status check_graph(const Graph& graph);

}  // namespace pastcone::causal

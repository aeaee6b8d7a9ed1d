#include "pastcone/debug/horizons.h"

#include <algorithm>

#include "pastcone/graph/steps.h"

namespace pastcone::debug {

using causal::Graph;
using causal::Node;

replay::Horizons horizons_of(const Recording& recording, const Graph& graph, const causal::Cut& cut) {
  replay::Horizons horizons;
  for (uint32_t index = 0; index < graph.real_threads; ++index) {
    Node last{index, cut[index]};
    // In parallel mode a thread may do something on its way out that others wait for.
    bool to_its_end = recording.manifest().parallel && cut[index] == graph.threads[index].events;
    horizons[graph.thread_id(index)] =
        to_its_end ? replay::kNoHorizon
                   : replay::Horizon{graph::plain_step(graph, last), graph::point_at(graph, last)};
  }
  return horizons;
}

causal::Cut steps_of(const Graph& graph, const std::vector<replay::Standing>& all) {
  causal::Cut steps(graph.real_threads);
  for (const replay::Standing& where : all) {
    auto thread = graph.find(where.last.thread());
    if (!thread) continue;
    uint32_t last = graph.threads[*thread].events;
    auto plain =
        static_cast<uint32_t>(std::min<uint64_t>(where.steps, graph::plain_step(graph, {*thread, last})));
    steps[*thread] =
        where.steps == UINT64_MAX ? last : graph::find_step(graph, *thread, plain, where.points).event;
  }
  return steps;
}

bool is_due(const Graph& graph, Node step, const causal::Cut& cut) {
  uint32_t begin = graph.first_group[step.thread], end = graph.first_group[step.thread + 1];
  while (begin < end) {  // the group of the step, if there are edges into it
    uint32_t middle = begin + (end - begin) / 2;
    if (graph.groups[middle].event < step.event) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  if (begin == graph.first_group[step.thread + 1] || graph.groups[begin].event != step.event) return true;
  for (uint32_t edge = graph.groups[begin].first_edge; edge < graph.groups[begin + 1].first_edge; ++edge) {
    Node from = graph.edges[edge].from;
    if (from.thread < graph.real_threads && from.event > cut[from.thread]) return false;
  }
  return true;
}

}  // namespace pastcone::debug

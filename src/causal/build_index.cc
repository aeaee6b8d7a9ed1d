#include <algorithm>
#include <utility>

#include "pastcone/causal/build_parts.h"
#include "pastcone/causal/event_set.h"

namespace pastcone::causal {
namespace {

/// A group for each event that edges lead to.
std::vector<Group> make_groups(const EventSet& targets, uint32_t count, Graph& graph) {
  std::vector<Group> groups;
  groups.reserve(count + 1);
  std::vector<uint32_t> first(graph.threads.size() + 1, 0);
  targets.each([&](Node node) {
    groups.push_back({node.event, 0, 0, node.thread});
    ++first[node.thread + 1];
  });
  groups.push_back({0, 0, 0, kNone});
  for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  graph.first_group = std::move(first);
  return groups;
}

/// Puts the edges at their targets, those of one target in the order in which they were added.
std::vector<Edge> place_edges(const std::vector<RawEdge>& raw, const EventSet& targets,
                              std::vector<Group>& groups, Graph& graph) {
  std::vector<Edge> edges(raw.size());
  std::vector<uint8_t> kinds(raw.size());
  for (const RawEdge& edge : raw) ++groups[targets.before(edge.to)].first_edge;
  uint32_t sum = 0;
  for (Group& group : groups) group.first_edge = std::exchange(sum, sum + group.first_edge);
  for (const RawEdge& edge : raw) {
    uint32_t place = groups[targets.before(edge.to)].first_edge++;
    edges[place] = {edge.from, kNone, edge.label};
    kinds[place] = static_cast<uint8_t>(edge.kind);
  }
  // Each is where the next one's edges begin now.
  uint32_t begin = 0;
  for (Group& group : groups) begin = std::exchange(group.first_edge, begin);
  graph.kinds = std::move(kinds);
  return edges;
}

/// Which group a source follows.
void find_source_groups(const EventSet& targets, std::vector<Edge> edges, Graph& graph) {
  for (Edge& edge : edges) {
    uint32_t before = targets.up_to(edge.from);
    edge.from_group = before > graph.first_group[edge.from.thread] ? before - 1 : kNone;
  }
  graph.edges = std::move(edges);
}

}  // namespace

Status add_index(std::vector<RawEdge> raw, Graph& graph, const BuildOptions& options) {
  if (raw.size() >= Link::kHandOver - graph.threads.size())
    return fail("the graph has more than {} edges", Link::kHandOver);
  EventSet targets(graph.threads);
  for (const RawEdge& edge : raw) targets.add(edge.to);
  std::vector<Group> groups = make_groups(targets, targets.count(), graph);
  std::vector<Edge> edges = place_edges(raw, targets, groups, graph);
  raw = {};
  find_source_groups(targets, std::move(edges), graph);
  return add_ranks(std::move(groups), graph, options);
}

ByThread causal_sources(const Graph& graph) {
  EventSet sources(graph.threads);
  std::span<const Edge> edges = graph.edges.view();
  std::span<const uint8_t> kinds = graph.kinds.view();
  for (size_t i = 0; i < edges.size(); ++i) {
    if (kinds[i] != static_cast<uint8_t>(EdgeKind::kHandOver)) sources.add(edges[i].from);
  }
  std::vector<uint32_t> first(graph.threads.size() + 1, 0), items;
  items.reserve(sources.count());
  sources.each([&](Node node) {
    items.push_back(node.event);
    ++first[node.thread + 1];
  });
  for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  return {std::move(first), std::move(items)};
}

}  // namespace pastcone::causal

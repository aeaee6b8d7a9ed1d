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

/// Which group a source follows, and where causal edges begin.
void find_sources(const EventSet& targets, std::vector<Edge> edges, Graph& graph) {
  EventSet sources(graph.threads);
  for (size_t i = 0; i < edges.size(); ++i) {
    Node from = edges[i].from;
    uint32_t before = targets.up_to(from);
    edges[i].from_group = before > graph.first_group[from.thread] ? before - 1 : kNone;
    if (graph.kinds[i] != static_cast<uint8_t>(EdgeKind::kHandOver)) sources.add(from);
  }
  std::vector<uint32_t> first(graph.threads.size() + 1, 0), items;
  items.reserve(sources.count());
  sources.each([&](Node node) {
    items.push_back(node.event);
    ++first[node.thread + 1];
  });
  for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  graph.edges = std::move(edges);
  graph.sources = {std::move(first), std::move(items)};
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
  find_sources(targets, std::move(edges), graph);
  return add_ranks(std::move(groups), graph, options);
}

Status index_edges(std::vector<Group> groups, std::vector<Edge> edges, Graph& graph) {
  EventSet targets(graph.threads);
  for (uint32_t thread = 0; thread < graph.thread_count(); ++thread) {
    for (uint32_t i = graph.first_group[thread]; i < graph.first_group[thread + 1]; ++i) {
      groups[i].thread = thread;
      targets.add({thread, groups[i].event});
    }
  }
  groups.back().thread = kNone;
  targets.count();
  find_sources(targets, std::move(edges), graph);
  return add_ranks(std::move(groups), graph, {});
}

}  // namespace pastcone::causal

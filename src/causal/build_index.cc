#include <algorithm>

#include "pastcone/causal/build_parts.h"
#include "pastcone/causal/radix.h"

namespace pastcone::causal {
namespace {

constexpr uint32_t kMostArrows = 4;  // in an error

uint64_t by_event(Node node) { return uint64_t{node.thread} << 32 | node.event; }

/// Puts the edges at their targets.
void make_groups(const std::vector<RawEdge>& raw, Graph& graph) {
  auto count = static_cast<uint32_t>(raw.size());
  std::vector<uint32_t> places = sorted_places(count, [&](uint32_t i) { return by_event(raw[i].to); });
  std::vector<Edge> edges(count);
  std::vector<uint8_t> kinds(count);
  std::vector<Group> groups;
  std::vector<uint32_t> first(graph.threads.size() + 1, 0);
  for (uint32_t i = 0; i < count; ++i) {
    const RawEdge& edge = raw[places[i]];
    edges[i] = {edge.from, kNone, edge.label};
    kinds[i] = static_cast<uint8_t>(edge.kind);
    if (groups.empty() || groups.back().thread != edge.to.thread || groups.back().event != edge.to.event) {
      groups.push_back({edge.to.event, 0, i, edge.to.thread});
      ++first[edge.to.thread + 1];
    }
  }
  for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  groups.push_back({0, 0, count, kNone});
  graph.first_group = std::move(first);
  graph.groups = std::move(groups);
  graph.edges = std::move(edges);
  graph.kinds = std::move(kinds);
}

/// Walks sources and groups of each thread side by side: which group a source follows, and where causal edges
/// begin.
void find_sources(Graph& graph) {
  auto count = static_cast<uint32_t>(graph.edges.size());
  std::vector<Edge> edges(graph.edges.begin(), graph.edges.end());
  std::vector<uint32_t> first(graph.threads.size() + 1, 0), items;
  Node last;
  uint32_t group = 0, thread = kNone;
  for (uint32_t place : sorted_places(count, [&](uint32_t i) { return by_event(edges[i].from); })) {
    Edge& edge = edges[place];
    if (edge.from.thread != thread) {
      thread = edge.from.thread;
      group = graph.first_group[thread];
    }
    while (group < graph.first_group[thread + 1] && graph.groups[group].event <= edge.from.event) ++group;
    edge.from_group = group == graph.first_group[thread] ? kNone : group - 1;
    if (graph.kind(place) != EdgeKind::kHandOver && (items.empty() || last != edge.from)) {
      items.push_back(edge.from.event);
      ++first[thread + 1];
      last = edge.from;
    }
  }
  for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  graph.edges = std::move(edges);
  graph.sources = {std::move(first), std::move(items)};
}

/// Lets every thread go as far as its edges allow. A thread that has to wait is entered at the group it waits
/// for, and goes on when that is done; who still waits at the end is part of a cycle, or behind one.
class Ranking {
 public:
  Ranking(Graph& graph, const BuildOptions& options)
      : graph_(graph),
        options_(options),
        groups_(graph.groups.begin(), graph.groups.end()),
        next_(graph.thread_count()),
        edge_(graph.thread_count()),
        waiter_(groups_.size(), kNone),
        waits_(graph.thread_count(), kNone) {}

  Status run() {
    for (uint32_t thread = 0; thread < graph_.thread_count(); ++thread) {
      next_[thread] = graph_.first_group[thread];
      edge_[thread] = groups_[next_[thread]].first_edge;
      ready_.push_back(thread);
    }
    while (!ready_.empty()) {
      uint32_t thread = ready_.back();
      ready_.pop_back();
      go_on(thread);
    }
    for (uint32_t thread = 0; thread < graph_.thread_count(); ++thread) {
      if (next_[thread] != graph_.first_group[thread + 1]) return fail_with_cycle(thread);
    }
    graph_.groups = std::move(groups_);
    return {};
  }

 private:
  void go_on(uint32_t thread) {
    uint32_t until = graph_.first_group[thread + 1];
    for (uint32_t& group = next_[thread]; group < until;) {
      for (uint32_t& edge = edge_[thread]; edge < groups_[group + 1].first_edge; ++edge) {
        uint32_t from = graph_.edges[edge].from_group;
        if (from == kNone || from < next_[graph_.edges[edge].from.thread]) continue;
        waits_[thread] = waiter_[from];
        waiter_[from] = thread;
        return;
      }
      finish(thread, group);
      ++group;
      edge_[thread] = groups_[group].first_edge;
      wake(group - 1);
    }
  }

  void finish(uint32_t thread, uint32_t group) {
    uint32_t rank = groups_[group].event;
    if (group > graph_.first_group[thread]) {
      rank = groups_[group - 1].rank + (groups_[group].event - groups_[group - 1].event);
    }
    for (uint32_t edge = groups_[group].first_edge; edge < groups_[group + 1].first_edge; ++edge) {
      const Edge& each = graph_.edges[edge];
      uint32_t from = each.from_group == kNone ? each.from.event
                                               : groups_[each.from_group].rank +
                                                     (each.from.event - groups_[each.from_group].event);
      rank = std::max(rank, from + 1);
    }
    groups_[group].rank = rank;
  }

  /// Who waits for whom, from one of those that wait until somebody comes up again.
  Status fail_with_cycle(uint32_t thread) const {
    std::vector<bool> seen(graph_.thread_count(), false);
    for (; !seen[thread]; thread = awaited(thread)) seen[thread] = true;
    uint32_t first = thread, arrows = 0;
    std::string text;
    do {
      if (arrows++ < kMostArrows) {
        text += fmt::format("{}{} comes after {} ({})", text.empty() ? "" : ", ",
                            name({thread, groups_[next_[thread]].event}),
                            name(graph_.edges[edge_[thread]].from), to_string(graph_.kind(edge_[thread])));
      }
      thread = awaited(thread);
    } while (thread != first);
    if (arrows > kMostArrows) text += fmt::format(", and {} more", arrows - kMostArrows);
    return fail("the edges make a cycle: {}", text);
  }

  uint32_t awaited(uint32_t thread) const { return graph_.edges[edge_[thread]].from.thread; }
  std::string name(Node node) const {
    return options_.name != nullptr ? options_.name(graph_, node) : to_string(graph_.id(node));
  }

  void wake(uint32_t group) {
    for (uint32_t thread = waiter_[group]; thread != kNone; thread = waits_[thread]) ready_.push_back(thread);
  }

  Graph& graph_;
  const BuildOptions& options_;
  std::vector<Group> groups_;
  std::vector<uint32_t> next_, edge_;  ///< of each thread: the group it is at, and the edge it looks at
  std::vector<uint32_t> waiter_;       ///< of each group: the first thread that waits for it
  std::vector<uint32_t> waits_;        ///< of each thread: the next that waits for the same
  std::vector<uint32_t> ready_;
};

}  // namespace

Status add_index(std::vector<RawEdge> raw, Graph& graph, const BuildOptions& options) {
  if (raw.size() >= kNone) return fail("the graph has more than {} edges", kNone - 1);
  make_groups(raw, graph);
  raw = {};
  find_sources(graph);
  TRY_STATUS(Ranking(graph, options).run());
  graph.order = sorted_places(static_cast<uint32_t>(graph.groups.size() - 1),
                              [&](uint32_t group) { return graph.groups[group].rank; });
  return {};
}

}  // namespace pastcone::causal

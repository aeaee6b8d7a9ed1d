#include <algorithm>

#include "pastcone/causal/build_parts.h"
#include "pastcone/causal/radix.h"

namespace pastcone::causal {
namespace {

constexpr uint32_t kMostArrows = 4;  // in an error

/// Lets every thread go as far as its edges allow. A thread that has to wait is entered at the group it waits
/// for, and goes on when that is done; who still waits at the end is part of a cycle, or behind one.
class Ranking {
 public:
  Ranking(const Graph& graph, std::vector<Group> groups, const BuildOptions& options)
      : graph_(graph),
        options_(options),
        groups_(std::move(groups)),
        next_(graph.thread_count()),
        edge_(graph.thread_count()),
        waiter_(groups_.size(), kNone),
        waits_(graph.thread_count(), kNone) {
    chains_.stop_of.resize(groups_.size() - 1);
    chains_.stops.reserve(graph.thread_count() + groups_.size());
    chains_.links.reserve(graph.edges.size());
    for (uint32_t thread = 0; thread < graph.thread_count(); ++thread)
      chains_.stops.push_back({thread, 0, 0, kNone});
  }

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
    chains_.stops.push_back({kNone, 0, static_cast<uint32_t>(chains_.links.size()), kNone});
    return {};
  }

  std::vector<Group> take_groups() { return std::move(groups_); }
  Chains take_chains() { return std::move(chains_); }

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
    bool hub = graph_.threads[thread].hub();
    uint32_t steps = groups_[group].event, rank = steps;
    if (group > graph_.first_group[thread]) {
      steps -= groups_[group - 1].event;
      rank = groups_[group - 1].rank + steps;
    }
    chains_.stop_of[group] = static_cast<uint32_t>(chains_.stops.size());
    chains_.stops.push_back({thread, hub ? 0 : steps, static_cast<uint32_t>(chains_.links.size()), group});
    for (uint32_t edge = groups_[group].first_edge; edge < groups_[group + 1].first_edge; ++edge) {
      const Edge& each = graph_.edges[edge];
      bool first = each.from_group == kNone;
      uint32_t ahead = each.from.event - (first ? 0 : groups_[each.from_group].event);
      rank = std::max(rank, (first ? 0 : groups_[each.from_group].rank) + ahead + 1);
      uint32_t from = first ? each.from.thread : chains_.stop_of[each.from_group];
      if (graph_.kind(edge) == EdgeKind::kHandOver) from |= Link::kHandOver;
      chains_.links.push_back({from, (graph_.threads[each.from.thread].hub() ? 0 : ahead) + (hub ? 0 : 1)});
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

  const Graph& graph_;
  const BuildOptions& options_;
  std::vector<Group> groups_;
  std::vector<uint32_t> next_, edge_;  ///< of each thread: the group it is at, and the edge it looks at
  std::vector<uint32_t> waiter_;       ///< of each group: the first thread that waits for it
  std::vector<uint32_t> waits_;        ///< of each thread: the next that waits for the same
  std::vector<uint32_t> ready_;
  Chains chains_;
};

/// Whether each edge knows the group that its source follows, and groups lie by event: bytes may say
/// otherwise.
bool makes_sense(const Graph& graph, std::span<const Group> groups, std::span<const Edge> edges) {
  uint32_t last_edge = 0;
  for (uint32_t thread = 0; thread < graph.thread_count(); ++thread) {
    uint32_t event = 0;
    for (uint32_t i = graph.first_group[thread]; i < graph.first_group[thread + 1]; ++i) {
      if (groups[i].event <= event || groups[i].first_edge < last_edge) return false;
      event = groups[i].event;
      last_edge = groups[i].first_edge;
    }
  }
  return groups.back().first_edge >= last_edge && std::ranges::all_of(edges, [&](const Edge& edge) {
           uint32_t first = graph.first_group[edge.from.thread],
                    end = graph.first_group[edge.from.thread + 1];
           uint32_t next = edge.from_group == kNone ? first : edge.from_group + 1;
           return (next == first || groups[next - 1].event <= edge.from.event) &&
                  (next == end || groups[next].event > edge.from.event);
         });
}

}  // namespace

/// Where ranks are not far apart, which they are not where threads run side by side, they are counted.
std::vector<uint32_t> by_rank(std::span<const Group> all) {
  auto groups = all.first(all.size() - 1);
  auto count = static_cast<uint32_t>(groups.size());
  uint32_t highest = 0;
  for (const Group& group : groups) highest = std::max(highest, group.rank);
  if (highest > count) return sorted_places(count, [&](uint32_t group) { return groups[group].rank; });
  std::vector<uint32_t> next(highest + 2, 0), order(count);
  for (const Group& group : groups) ++next[group.rank + 1];
  for (size_t i = 1; i < next.size(); ++i) next[i] += next[i - 1];
  for (uint32_t group = 0; group < count; ++group) order[next[groups[group].rank]++] = group;
  return order;
}

Chains make_chains(const Graph& graph) {
  std::span<const Group> groups = graph.groups.view();
  std::span<const Edge> edges = graph.edges.view();
  if (!makes_sense(graph, groups, edges)) return {};
  BuildOptions options;
  Ranking ranking(graph, {groups.begin(), groups.end()}, options);
  return ranking.run() ? ranking.take_chains() : Chains();
}

Status add_ranks(std::vector<Group> groups, Graph& graph, const BuildOptions& options) {
  Ranking ranking(graph, std::move(groups), options);
  TRY_STATUS(ranking.run());
  graph.groups = ranking.take_groups();
  graph.made_chains.set(ranking.take_chains());
  return {};
}

}  // namespace pastcone::causal

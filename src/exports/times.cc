#include "pastcone/exports/times.h"

#include <algorithm>

namespace pastcone::exports {
namespace {

using causal::Graph;
using causal::Node;

constexpr int64_t kNever = INT64_MAX;
constexpr int64_t kStepNs = 500;

struct EdgeRange {
  uint32_t first = 0, until = 0;
};

EdgeRange edges_of(const Graph& graph, uint32_t group) {
  return {graph.groups[group].first_edge, graph.groups[group + 1].first_edge};
}

/// Calls visit(node, edges into it) for all steps, in an order that agrees with the edges.
template <typename Visit>
void walk(const Graph& graph, Visit visit) {
  std::vector<uint32_t> done(graph.thread_count(), 0);
  auto go_to = [&](Node to) {
    while (done[to.thread] < to.event) visit(Node{to.thread, ++done[to.thread]}, EdgeRange{});
  };
  for (uint32_t group : graph.order()) {
    Node node{graph.groups[group].thread, graph.groups[group].event};
    EdgeRange edges = edges_of(graph, group);
    go_to({node.thread, node.event - 1});
    for (uint32_t edge = edges.first; edge < edges.until; ++edge) go_to(graph.edges[edge].from);
    done[node.thread] = node.event;
    visit(node, edges);
  }
  for (uint32_t thread = 0; thread < graph.thread_count(); ++thread)
    go_to({thread, graph.threads[thread].events});
}

/// The same from the end.
template <typename Visit>
void walk_back(const Graph& graph, Visit visit) {
  std::vector<uint32_t> left(graph.thread_count());
  for (uint32_t thread = 0; thread < graph.thread_count(); ++thread)
    left[thread] = graph.threads[thread].events;
  auto go_to = [&](Node to) {
    for (; left[to.thread] > to.event; --left[to.thread])
      visit(Node{to.thread, left[to.thread]}, EdgeRange{});
  };
  for (size_t i = graph.order().size(); i-- > 0;) {
    uint32_t group = graph.order()[i];
    Node node{graph.groups[group].thread, graph.groups[group].event};
    go_to(node);
    left[node.thread] = node.event - 1;
    visit(node, edges_of(graph, group));
  }
  for (uint32_t thread = 0; thread < graph.thread_count(); ++thread) go_to({thread, 0});
}

class Spreading {
 public:
  Spreading(const Graph& graph, const std::vector<size_t>& first, std::span<const KnownTime> known)
      : graph_(graph),
        first_(first),
        known_(first.back()),
        times_(first.back(), INT64_MIN),
        latest_(first.back(), kNever),
        distance_(first.back(), 0) {
    for (const KnownTime& each : known) {
      times_[place(each.at)] = each.ns;
      known_[place(each.at)] = true;
      begin_ = std::min(begin_, each.ns - kStepNs);
    }
    if (known.empty()) begin_ = 0;
  }

  std::vector<int64_t> run() && {
    walk(graph_, [this](Node node, EdgeRange edges) {
      times_[place(node)] = std::max(times_[place(node)], earliest(node, edges));
    });
    walk_back(graph_, [this](Node node, EdgeRange edges) { bound(node, edges); });
    walk(graph_,
         [this](Node node, EdgeRange edges) { times_[place(node)] = choose(node, earliest(node, edges)); });
    return std::move(times_);
  }

 private:
  size_t place(Node node) const { return first_[node.thread] + node.event - 1; }

  /// By what is before it.
  int64_t earliest(Node node, EdgeRange edges) const {
    int64_t time = node.event > 1 ? times_[place(node) - 1] + 1 : begin_;
    for (uint32_t edge = edges.first; edge < edges.until; ++edge)
      time = std::max(time, times_[place(graph_.edges[edge].from)] + 1);
    return time;
  }

  /// The latest time of a step, by what is after it, which has been here before; and over how many steps from
  /// here it is to be spread.
  void bound(Node node, EdgeRange edges) {
    size_t at = place(node);
    if (known_[at]) {
      latest_[at] = times_[at];
      distance_[at] = 0;
    } else if (node.event < graph_.threads[node.thread].events) {
      lower(at, at + 1);
    }
    for (uint32_t edge = edges.first; edge < edges.until; ++edge) lower(place(graph_.edges[edge].from), at);
  }

  void lower(size_t at, size_t by) {
    if (latest_[by] == kNever || latest_[by] - 1 >= latest_[at]) return;
    latest_[at] = latest_[by] - 1;
    distance_[at] = distance_[by] + 1;
  }

  int64_t choose(Node node, int64_t earliest) const {
    size_t at = place(node);
    if (node.event == 1) return known_[at] ? latest_[at] : earliest;
    int64_t before = times_[at - 1];
    if (latest_[at] == kNever) return std::max(earliest, before + kStepNs);
    return std::clamp(before + (latest_[at] - before) / (int64_t{distance_[at]} + 1), earliest, latest_[at]);
  }

  const Graph& graph_;
  const std::vector<size_t>& first_;
  std::vector<bool> known_;
  std::vector<int64_t>
      times_;  ///< after the first walk the earliest possible, after the last what was chosen
  std::vector<int64_t> latest_;  ///< kNever: nothing after it has a time
  std::vector<uint32_t> distance_;
  int64_t begin_ = kNever;
};

}  // namespace

Times::Times(const Graph& graph, std::span<const KnownTime> known) : first_{0} {
  for (const causal::Thread& thread : graph.threads) first_.push_back(first_.back() + thread.events);
  times_ = Spreading(graph, first_, known).run();
  if (!times_.empty()) begin_ = *std::ranges::min_element(times_);
}

}  // namespace pastcone::exports

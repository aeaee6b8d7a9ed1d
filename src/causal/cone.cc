#include "pastcone/causal/cone.h"

#include <algorithm>
#include <queue>

#include "pastcone/causal/vectors.h"

namespace pastcone::causal {
namespace {

/// An event that has to be in the cone.
struct Demand {
  uint32_t rank;
  Node node;
  uint32_t group;  ///< the last one up to it, or kNone

  bool operator<(const Demand& other) const { return rank < other.rank; }
};

/// Demands are met by falling rank. Whatever one of them leads to has a lower rank, so a thread is raised by
/// its highest demand, and only once. The cut is consistent at all times, but for the demands that wait.
class PastSearch {
 public:
  PastSearch(const Graph& graph, const Anchors& anchors)
      : graph_(graph),
        anchors_(anchors),
        all_kinds_((kAllKinds & ~anchors.kinds) == 0),
        cut_(graph.thread_count(), 0),
        asked_(graph.thread_count(), 0) {}

  void demand(Node node, uint32_t group) {
    if (node.event <= cut_[node.thread] || node.event <= asked_[node.thread]) return;
    asked_[node.thread] = node.event;
    demands_.push({graph_.rank(node, group), node, group});
  }

  Cut run() {
    while (!demands_.empty()) step();
    return std::move(cut_);
  }

  /// Whether `target` gets into the cone.
  bool reaches(Node target) {
    uint32_t rank = graph_.rank(target);
    while (std::max(cut_[target.thread], asked_[target.thread]) < target.event) {
      if (demands_.empty() || demands_.top().rank <= rank) return false;
      step();
    }
    return true;
  }

 private:
  void step() {
    Demand demand = demands_.top();
    demands_.pop();
    auto [thread, event] = demand.node;
    if (event <= cut_[thread]) return;
    uint32_t stop = graph_.first_group[thread];  // groups before it need no look
    if (demand.group != kNone) {
      uint32_t anchors = anchors_.among(demand.group + 1 - stop);
      if (anchors > 0) {
        stop += anchors * anchors_.spacing;
        if (graph_.groups[stop - 1].event > cut_[thread]) {
          size_t width = graph_.thread_count();
          size_t row = (anchors_.first[thread] + anchors - 1) * width;
          join(cut_.data(), anchors_.vectors.part(row, width).data(), width);
        }
      }
      for (uint32_t group = demand.group + 1; group > stop && graph_.groups[group - 1].event > cut_[thread];
           --group) {
        demand_sources(group - 1);
      }
    }
    cut_[thread] = event;
  }

  void demand_sources(uint32_t group) {
    for (uint32_t edge = graph_.groups[group].first_edge; edge < graph_.groups[group + 1].first_edge;
         ++edge) {
      if (!all_kinds_ && (anchors_.kinds & kinds_of(graph_.kind(edge))) == 0) continue;
      demand(graph_.edges[edge].from, graph_.edges[edge].from_group);
    }
  }

  const Graph& graph_;
  const Anchors& anchors_;
  bool all_kinds_;
  Cut cut_;
  std::vector<uint32_t> asked_;  ///< the highest demand so far
  std::priority_queue<Demand> demands_;
};

/// A thread's groups in which its first event after `events` must be: from where no anchor knows of them to
/// the first anchor that does.
struct Window {
  uint32_t rank;
  uint32_t group, until;

  bool operator<(const Window& other) const { return rank > other.rank; }
};

/// Goes through the windows by rising rank: what a group depends on is decided before it.
class FutureSearch {
 public:
  FutureSearch(const Graph& graph, const Anchors& anchors, std::span<const Node> events)
      : graph_(graph), anchors_(anchors), events_(events), first_(graph.thread_count()) {
    for (uint32_t thread = 0; thread < graph.thread_count(); ++thread)
      first_[thread] = graph.threads[thread].events + 1;
    least_rank_ = UINT32_MAX;
    for (Node event : events) {
      first_[event.thread] = std::min(first_[event.thread], event.event);
      least_rank_ = std::min(least_rank_, graph.rank(event));
    }
  }

  std::vector<uint32_t> run() {
    for (uint32_t thread = 0; thread < graph_.thread_count(); ++thread) push(window(thread));
    while (!windows_.empty()) {
      Window window = windows_.top();
      windows_.pop();
      const Group& group = graph_.groups[window.group];
      if (group.event >= first_[group.thread]) continue;
      if (is_after(window.group)) {
        first_[group.thread] = group.event;
      } else {
        ++window.group;
        push(window);
      }
    }
    return std::move(first_);
  }

 private:
  void push(Window window) {
    if (window.group == window.until) return;
    window.rank = graph_.groups[window.group].rank;
    windows_.push(window);
  }

  Window window(uint32_t thread) const {
    uint32_t first = graph_.first_group[thread], until = graph_.first_group[thread + 1];
    uint32_t low = 0, high = anchors_.first[thread + 1] - anchors_.first[thread];
    while (low < high) {
      uint32_t middle = (low + high) / 2;
      if (knows(anchors_.first[thread] + middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    uint32_t from = first + low * anchors_.spacing;
    until = from + std::min(until - from, anchors_.spacing);
    auto begin = graph_.groups.begin();
    auto later = std::upper_bound(begin + from, begin + until, least_rank_,
                                  [](uint32_t rank, const Group& group) { return rank < group.rank; });
    return {0, static_cast<uint32_t>(later - begin), until};
  }

  bool knows(uint32_t anchor) const {
    size_t row = size_t{anchor} * graph_.thread_count();
    return std::ranges::any_of(
        events_, [&](Node event) { return anchors_.vectors[row + event.thread] >= event.event; });
  }

  bool is_after(uint32_t group) const {
    for (uint32_t edge = graph_.groups[group].first_edge; edge < graph_.groups[group + 1].first_edge;
         ++edge) {
      Node from = graph_.edges[edge].from;
      if (from.event >= first_[from.thread] && (anchors_.kinds & kinds_of(graph_.kind(edge))) != 0)
        return true;
    }
    return false;
  }

  const Graph& graph_;
  const Anchors& anchors_;
  std::span<const Node> events_;
  std::vector<uint32_t> first_;
  uint32_t least_rank_;
  std::priority_queue<Window> windows_;
};

}  // namespace

Cut past_cone(const Graph& graph, const Anchors& anchors, std::span<const Node> events) {
  PastSearch search(graph, anchors);
  for (Node event : events) search.demand(event, graph.group_at(event));
  return search.run();
}

Cut past_cone(const Graph& graph, std::span<const Node> events, Order order) {
  return past_cone(graph, graph.anchors(order), events);
}

Cut past_cone(const Graph& graph, Node event, Order order) {
  return past_cone(graph, std::span(&event, 1), order);
}

std::vector<uint32_t> future_cone(const Graph& graph, std::span<const Node> events, Order order) {
  return FutureSearch(graph, graph.anchors(order), events).run();
}

bool happened_before(const Graph& graph, Node a, Node b, Order order) {
  if (a.thread == b.thread) return a.event < b.event;
  PastSearch search(graph, graph.anchors(order));
  search.demand(b, graph.group_at(b));
  return search.reaches(a);
}

bool concurrent(const Graph& graph, Node a, Node b, Order order) {
  return a != b && !happened_before(graph, a, b, order) && !happened_before(graph, b, a, order);
}

}  // namespace pastcone::causal

#include "pastcone/causal/path.h"

#include <algorithm>

#include "pastcone/base/check.h"
#include "pastcone/causal/cone.h"

namespace pastcone::causal {
namespace {

/// An edge of the graph on the way back from b.
struct Hop {
  uint32_t edge;
  Node to;
};

/// Turns hops, last first, into arrows, first first.
std::vector<Arrow> arrows_of(const Graph& graph, const std::vector<Hop>& hops) {
  std::vector<Arrow> arrows;
  std::optional<Arrow> into_hub;
  for (auto hop = hops.rbegin(); hop != hops.rend(); ++hop) {
    const Edge& edge = graph.edges[hop->edge];
    Arrow arrow{edge.from, hop->to, graph.kind(hop->edge), edge.label};
    if (graph.threads[arrow.from.thread].hub()) {
      CHECK(into_hub);
      arrow.from = into_hub->from;
    }
    if (graph.threads[arrow.to.thread].hub()) {
      into_hub = arrow;
    } else {
      arrows.push_back(arrow);
    }
  }
  return arrows;
}

/// The longest ways from a to the groups behind it, by rising rank up to b's.
class LongestSearch {
 public:
  LongestSearch(const Graph& graph, Node a, Node b, Order order)
      : graph_(graph),
        a_(a),
        b_(b),
        kinds_(graph.anchors(order).kinds),
        all_kinds_(graph.enforced.first.empty()),
        offsets_(graph.group_count(), kUnreached) {}

  Chain run() {
    auto rank = [this](uint32_t group) { return graph_.groups[group].rank; };
    auto from = std::ranges::lower_bound(graph_.order, graph_.rank(a_), {}, rank);
    auto until = std::ranges::upper_bound(graph_.order, graph_.rank(b_), {}, rank);
    for (; from != until; ++from) {
      fetch_ahead(from, until);
      int64_t way = best(*from).way;
      if (way != kUnreached)
        offsets_[*from] = hub(graph_.groups[*from].thread) ? way : way - graph_.groups[*from].event;
    }
    return {static_cast<uint64_t>(way_to(b_, graph_.group_at(b_))) + 1, trace_back()};
  }

 private:
  static constexpr int64_t kUnreached = INT64_MIN;

  struct Best {
    int64_t way = kUnreached;
    uint32_t edge = kNone;  ///< kNone: by program order
  };

  template <typename Place>
  void fetch_ahead(Place place, Place until) const {
    auto group = [&](ptrdiff_t distance) { return *(place + std::min(distance, until - place - 1)); };
    __builtin_prefetch(&graph_.groups[group(32)]);
    __builtin_prefetch(&offsets_[group(32)]);
    __builtin_prefetch(&graph_.edges[graph_.groups[group(16)].first_edge]);
    uint32_t from = graph_.edges[graph_.groups[group(8)].first_edge].from_group;
    if (from != kNone) __builtin_prefetch(&offsets_[from]);
  }

  bool hub(uint32_t thread) const { return thread >= graph_.real_threads; }

  int64_t way_to(Node node, uint32_t group) const {
    if (group != kNone && offsets_[group] != kUnreached)
      return offsets_[group] + (hub(node.thread) ? 0 : node.event);
    return node.thread == a_.thread && node.event >= a_.event ? int64_t{node.event} - a_.event : kUnreached;
  }

  Best best(uint32_t group) const {
    const Group& here = graph_.groups[group];
    Node node{here.thread, here.event};
    if (node == a_) return {0, kNone};
    Best best{way_to(node, group > graph_.first_group[here.thread] ? group - 1 : kNone), kNone};
    for (uint32_t edge = here.first_edge; edge < graph_.groups[group + 1].first_edge; ++edge) {
      if (!all_kinds_ && (kinds_ & kinds_of(graph_.kind(edge))) == 0) continue;
      int64_t way = way_to(graph_.edges[edge].from, graph_.edges[edge].from_group);
      if (way == kUnreached) continue;
      way += hub(here.thread) ? 0 : 1;
      if (best.edge == kNone ? way >= best.way : way > best.way) best = {way, edge};
    }
    return best;
  }

  std::vector<Arrow> trace_back() const {
    std::vector<Hop> hops;
    for (Node at = b_; at != a_;) {
      uint32_t group = graph_.group_at(at);
      if (group == kNone || offsets_[group] == kUnreached) break;  // a is behind, in the same thread
      at.event = graph_.groups[group].event;
      if (at == a_) break;
      Best from = best(group);
      if (from.edge == kNone) {
        --at.event;
      } else {
        hops.push_back({from.edge, at});
        at = graph_.edges[from.edge].from;
      }
    }
    return arrows_of(graph_, hops);
  }

  const Graph& graph_;
  Node a_, b_;
  Kinds kinds_;
  bool all_kinds_;
  /// Of each group: arrows and steps on the longest way from a, less its event (a hub's events are no steps);
  /// so that the way to a later event of the thread is one addition.
  std::vector<int64_t> offsets_;
};

}  // namespace

uint32_t message_of(const Graph& graph, const Arrow& arrow) {
  bool known = arrow.kind == EdgeKind::kMessage && arrow.label < graph.sends.size() &&
               graph.sends[arrow.label].at == arrow.from;
  return known ? arrow.label : kNone;
}

std::optional<std::vector<Arrow>> witness_path(const Graph& graph, Node a, Node b, Order order) {
  if (a == b) return {};
  std::vector<uint32_t> first = future_cone(graph, std::span(&a, 1), order);
  if (b.event < first[b.thread]) return {};
  Kinds kinds = graph.anchors(order).kinds;
  std::vector<Hop> hops;
  for (Node at = b; at.thread != a.thread;) {
    at.event = first[at.thread];
    uint32_t group = graph.group_at(at), found = kNone;
    for (uint32_t edge = graph.groups[group].first_edge; edge < graph.groups[group + 1].first_edge; ++edge) {
      Node from = graph.edges[edge].from;
      if (from.event < first[from.thread] || (kinds & kinds_of(graph.kind(edge))) == 0) continue;
      if (found == kNone || from.thread == a.thread) found = edge;
    }
    CHECK(found != kNone, "nothing leads to {}", graph.id(at));
    hops.push_back({found, at});
    at = graph.edges[found].from;
  }
  return arrows_of(graph, hops);
}

std::optional<Chain> longest_chain(const Graph& graph, Node a, Node b, Order order) {
  if (!happened_before(graph, a, b, order)) return {};
  return LongestSearch(graph, a, b, order).run();
}

}  // namespace pastcone::causal

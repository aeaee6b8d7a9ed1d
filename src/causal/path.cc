#include "pastcone/causal/path.h"

#include <algorithm>
#include <memory>

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

/// The longest ways from a to the groups that lie between a and b.
class LongestSearch {
 public:
  LongestSearch(const Graph& graph, Node a, Node b, Order order)
      : graph_(graph), a_(a), b_(b), kinds_(graph.anchors(order).kinds),
        first_(future_cone(graph, std::span(&a, 1), order)), last_(past_cone(graph, b, order)),
        way_(std::make_unique_for_overwrite<uint32_t[]>(graph.group_count())) {}

  Chain run() {
    auto rank = [this](uint32_t group) { return graph_.groups[group].rank; };
    auto from = std::ranges::lower_bound(graph_.order, graph_.rank(a_), {}, rank);
    auto until = std::ranges::upper_bound(graph_.order, graph_.rank(b_), {}, rank);
    for (; from != until; ++from) {
      const Group& group = graph_.groups[*from];
      if (group.event >= first_[group.thread] && group.event <= last_[group.thread]) way_[*from] = best(*from).way;
    }
    return {uint64_t{way_to(b_, graph_.group_at(b_))} + 1, trace_back()};
  }

 private:
  struct Best {
    uint32_t way = 0;
    uint32_t edge = kNone;  ///< kNone: by program order
  };

  bool hub(uint32_t thread) const { return graph_.threads[thread].hub(); }

  /// `node` is a or comes after it.
  uint32_t way_to(Node node, uint32_t group) const {
    bool known = group != kNone && graph_.groups[group].event >= first_[node.thread];
    if (!known) return node.event - a_.event;
    return way_[group] + (hub(node.thread) ? 0 : node.event - graph_.groups[group].event);
  }

  Best best(uint32_t group) const {
    const Group& here = graph_.groups[group];
    Best best;
    if (here.thread == a_.thread && here.event == a_.event) return best;
    if (here.event > first_[here.thread]) {
      uint32_t previous = group > graph_.first_group[here.thread] ? group - 1 : kNone;
      best.way = way_to({here.thread, here.event}, previous);
    }
    for (uint32_t edge = here.first_edge; edge < graph_.groups[group + 1].first_edge; ++edge) {
      const Edge& each = graph_.edges[edge];
      if (each.from.event < first_[each.from.thread] || (kinds_ & kinds_of(graph_.kind(edge))) == 0) continue;
      uint32_t way = way_to(each.from, each.from_group) + (hub(here.thread) ? 0 : 1);
      if (best.edge == kNone ? way >= best.way : way > best.way) best = {way, edge};
    }
    return best;
  }

  std::vector<Arrow> trace_back() const {
    std::vector<Hop> hops;
    for (Node at = b_; at.thread != a_.thread || at.event != a_.event;) {
      uint32_t group = graph_.group_at(at);
      bool known = group != kNone && graph_.groups[group].event >= first_[at.thread];
      if (!known) break;  // only a is behind
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
  std::vector<uint32_t> first_;  ///< of each thread: its first event from a on
  Cut last_;                     ///< and its last up to b
  std::unique_ptr<uint32_t[]> way_;  ///< to each group between them: arrows and steps from a
};

}  // namespace

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

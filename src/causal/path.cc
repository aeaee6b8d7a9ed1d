#include "pastcone/causal/path.h"

#include <algorithm>

#include "pastcone/base/check.h"
#include "pastcone/causal/cone.h"

namespace pastcone::causal {
namespace {

/// An edge of the graph on the way back from b.
struct Hop {
  uint32_t edge;
  uint32_t group;  ///< that it leads to
};

/// Turns hops, first first, into arrows. What goes through a hub is one.
class ArrowList {
 public:
  explicit ArrowList(const Graph& graph) : graph_(graph) {}

  void add(Hop hop) {
    const Edge& edge = graph_.edges[hop.edge];
    const Group& to = graph_.groups[hop.group];
    Arrow arrow{edge.from, {to.thread, to.event}, graph_.kind(hop.edge), edge.label};
    if (graph_.threads[arrow.from.thread].hub()) {
      CHECK(into_hub_);
      arrow.from = into_hub_->from;
    }
    if (graph_.threads[arrow.to.thread].hub()) {
      into_hub_ = arrow;
    } else {
      arrows_.push_back(arrow);
    }
  }

  std::vector<Arrow> take() && { return std::move(arrows_); }

 private:
  const Graph& graph_;
  std::vector<Arrow> arrows_;
  std::optional<Arrow> into_hub_;
};

}  // namespace

std::vector<Arrow> Chain::arrows(const Graph& graph) const {
  ArrowList list(graph);
  std::span<const Group> groups = graph.groups.view();
  for (uint32_t edge : edges) {
    auto after = std::ranges::upper_bound(groups, edge, {}, &Group::first_edge);
    list.add({edge, static_cast<uint32_t>(after - groups.begin() - 1)});
  }
  return std::move(list).take();
}

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
    hops.push_back({found, group});
    at = graph.edges[found].from;
  }
  ArrowList list(graph);
  for (auto hop = hops.rbegin(); hop != hops.rend(); ++hop) list.add(*hop);
  return std::move(list).take();
}

}  // namespace pastcone::causal

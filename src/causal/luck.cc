#include "pastcone/causal/luck.h"

#include <algorithm>
#include <tuple>

#include "pastcone/causal/sweep.h"

namespace pastcone::causal {
namespace {

class LuckVisitor : public SweepVisitor {
 public:
  explicit LuckVisitor(const Graph& graph) : graph_(graph) {}

  void incoming(uint32_t group, const uint32_t* before, std::span<const Incoming> edges) override {
    for (const Incoming& edge : edges) {
      if (graph_.kind(edge.edge) != EdgeKind::kObject) continue;
      uint32_t begun = begin_of(edge.from);
      if (before != nullptr && before[edge.from.thread] >= begun) continue;
      bool otherwise = std::ranges::any_of(edges, [&](const Incoming& other) {
        bool same = other.from == edge.from && graph_.kind(other.edge) == EdgeKind::kObject;
        return !same && other.at(edge.from.thread) >= begun;
      });
      if (otherwise) continue;
      found.push_back({graph_.edges[edge.edge].label,
                       edge.from,
                       {graph_.groups[group].thread, graph_.groups[group].event}});
    }
  }

  std::vector<LuckyOrder> found;

 private:
  /// Where the access that is released there began; what is no step between events takes no time.
  uint32_t begin_of(Node release) const {
    auto steps = graph_.between.of(release.thread);
    auto place = std::ranges::lower_bound(steps, release.event);
    if (place == steps.end() || *place != release.event) return release.event;
    uint32_t first = graph_.between.first[release.thread];
    uint32_t since = graph_.since[first + static_cast<uint32_t>(place - steps.begin())];
    return since != 0 ? since : release.event;
  }

  const Graph& graph_;
};

}  // namespace

std::vector<LuckyOrder> lucky_orders(const Graph& graph) {
  LuckVisitor visitor(graph);
  sweep(graph, graph.causal, visitor);
  std::ranges::sort(visitor.found, {}, [](const LuckyOrder& order) {
    return std::tuple(order.object, order.access, order.release);
  });
  return std::move(visitor.found);
}

}  // namespace pastcone::causal

#include "pastcone/causal/build.h"

#include <algorithm>

#include "pastcone/causal/build_parts.h"
#include "pastcone/causal/sweep.h"

namespace pastcone::causal {
namespace {

constexpr uint32_t kMinSpacing = 16, kMaxSpacing = 512;

/// Four bytes for each thread and `spacing` groups: 16 bytes a group in the middle range.
uint32_t default_spacing(uint32_t threads) { return std::clamp(threads / 4, kMinSpacing, kMaxSpacing); }

Status check_ports(const Execution& execution) {
  for (const ArrivalInput& arrival : execution.arrivals) {
    if (arrival.port >= execution.ports.size() || arrival.send.thread >= execution.threads.size()) {
      return fail("an arrival is at a port or from a thread that does not exist");
    }
  }
  for (const TakingInput& taking : execution.takings) {
    if (taking.arrival >= execution.arrivals.size() || taking.at.thread >= execution.threads.size()) {
      return fail("a receive at a port takes what did not arrive, or is of a thread that does not exist");
    }
  }
  return {};
}

/// By thread already.
Status add_between(const Execution& execution, Graph& graph) {
  std::vector<uint32_t> first(graph.threads.size() + 1, 0), items, points, since;
  Node last;
  for (const BetweenInput& each : execution.between) {
    bool there = each.at.thread < execution.threads.size() && each.at.event != 0 &&
                 each.at.event <= execution.threads[each.at.thread].events;
    bool rises =
        each.at > last && (each.at.thread != last.thread || items.empty() || each.point > points.back());
    if (!there || !rises || each.since > each.at.event) return fail("steps between events are not in order");
    items.push_back(each.at.event);
    points.push_back(each.point);
    since.push_back(each.since);
    ++first[each.at.thread + 1];
    last = each.at;
  }
  for (size_t i = 1; i < first.size(); ++i) first[i] += first[i - 1];
  graph.between = {std::move(first), std::move(items)};
  graph.points = std::move(points);
  graph.since = std::move(since);
  return {};
}

}  // namespace

Result<Graph> build(Execution&& execution, const BuildOptions& options) {
  Graph graph;
  TRY_STATUS(add_threads(execution, graph));
  TRY_STATUS(check_ports(execution));
  TRY_STATUS(add_between(execution, graph));
  TRY_STATUS(add_transfers(execution, graph));
  EdgeList list(graph.threads, options.kinds);
  TRY_STATUS(add_edges(execution, graph, list));
  graph.lost = list.lost();
  graph.objects = execution.objects;
  graph.accesses = std::move(execution.accesses);
  graph.ports = std::move(execution.ports);
  graph.arrivals = std::move(execution.arrivals);
  graph.takings = std::move(execution.takings);
  graph.watches = std::move(execution.watches);
  execution = {};
  TRY_STATUS(add_index(list.take(), graph, options));

  uint32_t spacing =
      options.anchor_spacing != 0 ? options.anchor_spacing : default_spacing(graph.thread_count());
  graph.causal = make_anchors(graph, kCausalKinds, spacing, options.vector_bytes);
  bool hand_overs =
      std::ranges::find(graph.kinds, static_cast<uint8_t>(EdgeKind::kHandOver)) != graph.kinds.end();
  if (hand_overs) graph.enforced = make_anchors(graph, kAllKinds, spacing, options.vector_bytes);
  return graph;
}

}  // namespace pastcone::causal

#include "pastcone/debug/units.h"

#include <algorithm>

#include "pastcone/base/check.h"
#include "pastcone/graph/steps.h"

namespace pastcone::debug {

using causal::Cut;
using causal::Graph;
using causal::Node;
using causal::Order;

namespace {

bool exists(const Graph& graph, Node step) {
  return step.event != 0 && step.event <= graph.threads[step.thread].events;
}

/// Who hands the turn over for the way into an event: waited for before the program goes on, and not at its
/// end.
void add_hand_overs(const Graph& graph, Node step, std::vector<Node>& into) {
  if (!graph::is_entering(graph, step) || graph::point_at(graph, step) != 0) return;
  uint32_t group = graph.group_at(step);
  if (group == causal::kNone || graph.groups[group].event != step.event) return;
  for (uint32_t edge = graph.groups[group].first_edge; edge < graph.groups[group + 1].first_edge; ++edge)
    if (graph.kind(edge) == causal::EdgeKind::kHandOver) into.push_back(graph.edges[edge].from);
}

}  // namespace

bool Unit::has(uint32_t thread) const { return std::ranges::find(threads, thread) != threads.end(); }

uint64_t Found::detail_of(uint32_t thread) const {
  for (const Moment& moment : moments)
    if (moment.step.thread == thread && moment.step.event == cut[thread]) return moment.detail;
  return 0;
}

Found beginning(const Graph& graph) { return {Cut(graph.thread_count(), 0), {}, 0}; }

bool not_beyond(const Graph& graph, const Found& a, const Found& b, const Found& from) {
  auto detail = [&](const Found& state, uint32_t thread) {
    bool stayed = state.cut[thread] == from.cut[thread];
    return std::max(state.detail_of(thread), stayed ? from.detail_of(thread) : 0);
  };
  for (uint32_t thread = 0; thread < graph.real_threads; ++thread) {
    if (a.cut[thread] > b.cut[thread]) return false;
    if (a.cut[thread] == b.cut[thread] && detail(a, thread) > detail(b, thread)) return false;
  }
  return true;
}

void join(Cut& cut, const Cut& other) {
  CHECK(cut.size() == other.size());
  for (size_t i = 0; i < cut.size(); ++i) cut[i] = std::max(cut[i], other[i]);
}

uint32_t counted(const Graph& graph, const Unit& unit, Node last) {
  bool further = unit.threads.size() > 1 && graph.threads[last.thread].number > 1;
  return further && last.event <= graph::leaving(1) ? 0 : last.event;
}

bool same_place(const Graph& graph, const Unit& unit, const Cut& a, const Cut& b) {
  return std::ranges::all_of(unit.threads, [&](uint32_t thread) {
    return counted(graph, unit, {thread, a[thread]}) == counted(graph, unit, {thread, b[thread]});
  });
}

Moment moment_at(const Graph& graph, const Unit& unit, const Cut& cut) {
  CHECK(!unit.threads.empty());
  Node last{unit.threads.front(), 0};
  for (uint32_t thread : unit.threads) {
    Node step{thread, cut[thread]};
    if (counted(graph, unit, step) == 0) continue;
    if (last.event == 0 || graph.rank(step) > graph.rank(last)) last = step;
  }
  return {last, 0};
}

Cut cut_of(const Graph& graph, const Unit& unit, const Moment& moment) {
  std::vector<Node> needed{moment.step};
  Node next{moment.step.thread, moment.step.event + 1};
  if (moment.detail != 0 && exists(graph, next)) {
    add_hand_overs(graph, next, needed);
    if (unit.threads.size() > 1 && !unit.at_once) {
      // Nobody else of the unit does anything between this moment and its next step.
      Cut before = causal::past_cone(graph, next, Order::kEnforced);
      for (uint32_t thread : unit.threads) {
        Node last{thread, before[thread]};
        if (thread != next.thread && counted(graph, unit, last) != 0) needed.push_back(last);
      }
    }
  }
  return causal::past_cone(graph, needed, Order::kEnforced);
}

std::optional<Node> step_behind(const Graph& graph, const Unit& unit, const Cut& cut, const Moment& moment) {
  std::optional<Node> first;
  for (uint32_t thread : unit.threads) {
    if ((moment.detail != 0 || unit.at_once) && thread != moment.step.thread) continue;
    Node next{thread, cut[thread] + 1};
    while (counted(graph, unit, next) == 0) ++next.event;
    if (exists(graph, next) && (!first || graph.rank(next) < graph.rank(*first))) first = next;
  }
  return first;
}

}  // namespace pastcone::debug

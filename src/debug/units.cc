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

uint64_t Front::detail_of(uint32_t thread) const {
  auto found = details.find(thread);
  return found == details.end() ? 0 : found->second;
}

Found beginning(const Graph& graph) { return {{Cut(graph.thread_count(), 0)}}; }

bool not_beyond(const Graph& graph, const Front& a, const Front& b) {
  for (uint32_t thread = 0; thread < graph.real_threads; ++thread) {
    if (a.cut[thread] > b.cut[thread]) return false;
    if (a.cut[thread] == b.cut[thread] && a.detail_of(thread) > b.detail_of(thread)) return false;
  }
  return true;
}

void join(Cut& cut, const Cut& other) {
  CHECK(cut.size() == other.size());
  for (size_t i = 0; i < cut.size(); ++i) cut[i] = std::max(cut[i], other[i]);
}

void join(Front& front, const Cut& other) {
  CHECK(front.cut.size() == other.size());
  for (uint32_t thread = 0; thread < other.size(); ++thread) {
    if (other[thread] <= front.cut[thread]) continue;
    front.cut[thread] = other[thread];
    front.details.erase(thread);
  }
}

void join(Front& front, const Cut& other, const Moment& moment) {
  join(front, other);
  const auto& [thread, event] = moment.step;
  if (moment.detail == 0 || front.cut[thread] != event) return;
  uint64_t& detail = front.details[thread];
  detail = std::max(detail, moment.detail);
}

bool has(const Front& front, const Moment& moment) {
  const auto& [thread, event] = moment.step;
  if (event != front.cut[thread]) return event < front.cut[thread];
  return moment.detail <= front.detail_of(thread);
}

uint32_t counted(const Graph& graph, const Unit& unit, Node last) {
  bool further = unit.threads.size() > 1 && graph.threads[last.thread].number > 1;
  return further && last.event <= graph::leaving(1) ? 0 : last.event;
}

bool same_place(const Graph& graph, const Unit& unit, const Front& a, const Front& b) {
  return std::ranges::all_of(unit.threads, [&](uint32_t thread) {
    Node in_a{thread, a.cut[thread]}, in_b{thread, b.cut[thread]};
    return counted(graph, unit, in_a) == counted(graph, unit, in_b) &&
           a.detail_of(thread) == b.detail_of(thread);
  });
}

Moment moment_at(const Graph& graph, const Unit& unit, const Front& front) {
  CHECK(!unit.threads.empty());
  Moment last{{unit.threads.front(), 0}, 0};
  for (uint32_t thread : unit.threads) {
    Moment now{{thread, front.cut[thread]}, front.detail_of(thread)};
    if (now.detail == 0 && counted(graph, unit, now.step) == 0) continue;
    // Who has gone on has the turn.
    bool later = now.detail != last.detail
                     ? now.detail > last.detail
                     : last.step.event == 0 || graph.rank(now.step) > graph.rank(last.step);
    if (later) last = now;
  }
  return last;
}

Cut cut_of(const Graph& graph, const Unit& unit, const Moment& moment) {
  std::vector<Node> needed{moment.step};
  if (unit.born) needed.push_back(*unit.born);
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

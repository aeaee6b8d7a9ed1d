#include "pastcone/debug/truth_log.h"

#include <algorithm>

#include "pastcone/graph/steps.h"

namespace pastcone::debug {

using causal::Graph;
using causal::Node;

Trail trail_of(const RouteRef& route) {
  Trail trail;
  for (const Route* each = route.get(); each != nullptr; each = each->before.get())
    trail.push_back(each->last);
  std::ranges::reverse(trail);
  return trail;
}

MomentKey key_of(const Graph& graph, const Moment& moment) {
  const Node& step = moment.step;
  if (moment.detail == 0) return {step.event == 0 ? 0 : 2 * uint64_t{graph.rank(step)}, 0};
  if (step.event >= graph.threads[step.thread].events) return {UINT64_MAX, moment.detail};
  return {2 * uint64_t{graph.rank(Node{step.thread, step.event + 1})} - 1, moment.detail};
}

void TruthLog::note(const Graph& graph, const Moment& moment, bool holds, const RouteRef& route) {
  if (this->holds() == holds) return;
  if (holds) ++times_;
  if (!changes_.empty() && changes_.back().moment == moment) {
    changes_.pop_back();  // it was so for no time
    --times_;
    return;
  }
  changes_.push_back({moment, key_of(graph, moment), holds, route});
}

/// The least that can be behind a moment.
static Moment next_behind(const Graph& graph, const Moment& moment) {
  bool in_event = moment.detail == 0 && graph::is_entering(graph, moment.step);
  if (in_event) return {{moment.step.thread, moment.step.event + 1}, 0};
  return {moment.step, moment.detail + 1};
}

TruthLog::Answer TruthLog::answer(const Graph& graph, const Ask& ask, bool passed, bool ended) const {
  auto next = std::ranges::upper_bound(changes_, key_of(graph, ask.from), {}, &Change::key);
  return answer_from(graph, ask, next, false, passed, ended);
}

TruthLog::Answer TruthLog::answer(const Graph& graph, const Ask& ask, const Has& has, bool passed,
                                  bool ended) const {
  auto next =
      std::ranges::partition_point(changes_, [&](const Change& change) { return has(change.moment); });
  return answer_from(graph, ask, next, true, passed, ended);
}

TruthLog::Answer TruthLog::answer_from(const Graph& graph, const Ask& ask, Next next, bool at_once,
                                       bool passed, bool ended) const {
  bool holds = next != changes_.begin() && std::prev(next)->holds;
  if (holds == ask.holds) {
    if (!passed && !ended) return {Kind::kNotYet};
    if (!ask.beyond) return {Kind::kAt, ask.from};
    Moment behind = next_behind(graph, ask.from);
    bool waits = at_once && next != changes_.end() && next->moment.step.thread != behind.step.thread;
    bool still = next == changes_.end() || waits || next->key > key_of(graph, behind);
    bool last = ask.from.step.event >= graph.threads[ask.from.step.thread].events;
    if (still && last && ended) return {Kind::kNever};
    if (still) return {Kind::kAt, behind};
  }
  for (; next != changes_.end(); ++next)
    if (next->holds == ask.holds) return {Kind::kAt, next->moment};
  return {ended ? Kind::kNever : Kind::kNotYet};
}

std::optional<Trail> TruthLog::trail(const Moment& moment) const {
  auto change = std::ranges::find(changes_, moment, &Change::moment);
  return change == changes_.end() ? std::nullopt : std::optional(trail_of(change->route));
}

}  // namespace pastcone::debug

#include "pastcone/causal/demand.h"

#include <algorithm>
#include <utility>

namespace pastcone::causal {

Demand::Demand(const Graph& graph, std::span<const Node> targets, Order order)
    : graph_(graph),
      kinds_(order == Order::kEnforced ? kAllKinds : kCausalKinds),
      wanted_(graph.thread_count()),
      horizons_(graph.thread_count()),
      done_(graph.thread_count()) {
  for (Node target : targets) wanted_[target.thread] = std::max(wanted_[target.thread], target.event);
  for (uint32_t thread = 0; thread < graph.thread_count(); ++thread)
    next_.push_back(graph.first_group[thread]);
}

bool Demand::is_met(uint32_t group) {
  bool met = true, ahead = false;
  uint32_t& left = ahead_[graph_.groups[group].thread];
  for (uint32_t edge = graph_.groups[group].first_edge; edge < graph_.groups[group + 1].first_edge; ++edge) {
    Node from = graph_.edges[edge].from;
    if ((kinds_of(graph_.kind(edge)) & kinds_) == 0 || done_[from.thread] >= from.event) continue;
    if (horizons_[from.thread] >= from.event && left > 0 && (!certain_ || certain_(from))) {
      ahead = true;
      continue;
    }
    met = false;
    if (wanted_[from.thread] >= from.event) continue;
    wanted_[from.thread] = from.event;
    asked_ = true;
  }
  if (met && ahead) --left;
  return met;
}

bool Demand::look_at(uint32_t thread) {
  uint32_t& next = next_[thread];
  uint32_t end = graph_.first_group[thread + 1];
  // Who may be stopped before it comes there asks for nothing yet.
  auto comes_to = [&](uint32_t event) {
    bool arrived = thread >= graph_.real_threads || done_[thread] + 1 >= event;
    return arrived || !certain_ || certain_({thread, event - 1});
  };
  while (next < end && graph_.groups[next].event <= wanted_[thread] && comes_to(graph_.groups[next].event) &&
         is_met(next))
    ++next;
  uint32_t limit = wanted_[thread];
  if (next < end) limit = std::min(limit, graph_.groups[next].event - 1);
  bool further = limit > horizons_[thread];
  if (further) horizons_[thread] = limit;
  bool hub = thread >= graph_.real_threads;  // nobody runs there
  return (hub && std::exchange(done_[thread], horizons_[thread]) != horizons_[thread]) ||
         std::exchange(asked_, false) || further;
}

Cut Demand::attempts() const {
  Cut steps = horizons_;
  for (uint32_t thread = 0; thread < graph_.real_threads; ++thread) steps[thread] += wanted_[thread] > steps[thread];
  return steps;
}

bool Demand::advance(std::span<const uint32_t> done) {
  constexpr uint32_t kAhead = 64;
  Cut before = horizons_;
  ahead_.assign(graph_.thread_count(), kAhead);
  std::ranges::copy(done, done_.begin());
  for (bool again = true; std::exchange(again, false);) {
    for (uint32_t thread = 0; thread < graph_.thread_count(); ++thread) again = look_at(thread) || again;
  }
  return horizons_ != before;
}

}  // namespace pastcone::causal

// Linked predicates: which states have another one in their past.
#include <algorithm>

#include "pastcone/base/check.h"
#include "pastcone/debug/search.h"

namespace pastcone::debug {

using causal::Cut;
using causal::Node;
using causal::Order;

/// A moment of the link before.
struct Search::Known {
  const Unit* unit;
  Moment moment;
  std::vector<uint32_t> future;  ///< of each thread, the first step that could know that it was left
};

std::vector<Search::Known> Search::known(const Conjunction& before, const Found& state) const {
  std::vector<Known> all;
  for (size_t i = 0; i < before.size(); ++i) {
    Known& each = all.emplace_back(Known{&unit(before[i]), state.moments[i], {}});
    auto left = step_behind(graph_, *each.unit, state.cut, each.moment);
    if (left) each.future = causal::future_cone(graph_, std::span(&*left, 1), Order::kEnforced);
  }
  return all;
}

/// The least cut in which the chosen part of the next link knows of each moment. False: it never does.
bool Search::limit(const std::vector<Known>& known, std::span<const size_t> chosen, const Found& state,
                   Front& front, std::vector<Standing>& parts) const {
  for (size_t i = 0; i < known.size(); ++i) {
    const Unit& knows = unit(parts[chosen[i]].part);
    if (knows.has(known[i].moment.step.thread)) {  // its own past; see below
      join(front, cut_of(graph_, knows, known[i].moment), known[i].moment);
      continue;
    }
    std::optional<Node> first;
    for (uint32_t thread : knows.threads) {
      if (known[i].future.empty()) continue;
      Node step{thread, known[i].future[thread]};
      while (counted(graph_, knows, step) == 0) ++step.event;
      bool there = step.event <= graph_.threads[thread].events;
      if (there && (!first || graph_.rank(step) < graph_.rank(*first))) first = step;
    }
    if (!first) return false;
    join(front, causal::past_cone(graph_, *first, Order::kEnforced));
  }
  for (size_t i = 0; i < known.size(); ++i) {
    Standing& part = parts[chosen[i]];
    const Unit& knows = unit(part.part);
    if (!knows.has(known[i].moment.step.thread) || !same_place(graph_, knows, front, state)) continue;
    part.at = known[i].moment;
    part.beyond = true;
  }
  return true;
}

Status Search::find_behind(const Conjunction& before, const Found& state, const Conjunction& conjunction,
                           const Front& from, std::vector<Found>& found) {
  if (conjunction.empty()) return {};
  std::vector<Known> moments = known(before, state);
  // It is enough for a moment that one part knows of it, and there may be a first state for each choice of
  // these.
  std::vector<size_t> chosen(moments.size(), 0);
  for (bool more = true; more;) {
    Front front = from;
    std::vector<Standing> parts = standing(conjunction, from);
    if (limit(moments, chosen, state, front, parts)) {
      for (Standing& part : parts) {
        if (!part.beyond) part.at = moment_at(graph_, unit(part.part), front);
      }
      auto next = TRY(advance(std::move(front), std::move(parts)));
      if (next) add_unless_later(conjunction, std::move(*next), found);
    }
    more = false;
    for (size_t i = 0; i < chosen.size() && !more; ++i) {
      more = ++chosen[i] < conjunction.size();
      if (!more) chosen[i] = 0;
    }
  }
  return {};
}

/// Whether every moment of a is at or before that of b.
bool Search::not_later(const Conjunction& conjunction, const Found& a, const Found& b) const {
  for (size_t part : conjunction) {
    const Unit& each = unit(part);
    for (uint32_t thread : each.threads) {
      Node in_a{thread, a.cut[thread]}, in_b{thread, b.cut[thread]};
      uint32_t done_a = counted(graph_, each, in_a), done_b = counted(graph_, each, in_b);
      if (done_a > done_b) return false;
      if (done_a == done_b && a.detail_of(thread) > b.detail_of(thread)) return false;
    }
  }
  return true;
}

void Search::add_unless_later(const Conjunction& conjunction, Found state, std::vector<Found>& into) const {
  for (const Found& other : into)
    if (not_later(conjunction, other, state)) return;
  std::erase_if(into, [&](const Found& other) { return not_later(conjunction, state, other); });
  into.push_back(std::move(state));
}

Result<std::vector<Found>> Search::linked(std::span<const Disjunction> links, const Front& from) {
  CHECK(!links.empty());
  // Of each conjunction all states that others do not make superfluous: what is later as a state may still be
  // known of where the earlier one is not.
  std::vector<std::vector<Found>> reached;
  for (const Conjunction& conjunction : links.front()) {
    auto state = TRY(first(conjunction, from));
    reached.emplace_back();
    if (state) reached.back().push_back(std::move(*state));
  }
  for (size_t link = 1; link < links.size(); ++link) {
    std::vector<std::vector<Found>> next(links[link].size());
    for (size_t i = 0; i < links[link].size(); ++i) {
      for (size_t k = 0; k < reached.size(); ++k) {
        for (const Found& state : reached[k])
          TRY_STATUS(find_behind(links[link - 1][k], state, links[link][i], from, next[i]));
      }
    }
    reached = std::move(next);
  }
  std::vector<Found> all;
  for (size_t i = 0; i < reached.size(); ++i) {
    for (Found& state : reached[i]) {
      state.alternative = i;
      all.push_back(std::move(state));
    }
  }
  return minimal_of(std::move(all));
}

}  // namespace pastcone::debug

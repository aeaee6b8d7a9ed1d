// Linked predicates: which states have another one in their past.
#include <algorithm>
#include <iterator>

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

/// Whether the part has gone on from there in all states that are not before `from`.
bool Search::has_left(size_t part, const Found& state, const Moment& moment, const Front& from) const {
  auto left = step_behind(graph_, unit(part), state.cut, moment);
  return left && left->event <= from.cut[left->thread];
}

/// Whether the unit, which has come as far as the cut, could know by then that the moment was left.
bool Search::knows(const Unit& unit, const Cut& cut, const Known& known) const {
  if (known.future.empty()) return false;
  return std::ranges::any_of(unit.threads, [&](uint32_t thread) {
    Node step{thread, known.future[thread]};
    while (counted(graph_, unit, step) == 0) ++step.event;
    return step.event <= cut[thread];
  });
}

/// Whether the state's parts know of all these moments. Of what its unit does behind the same step, a part knows
/// that is still to come if it begins there; `coming`: these, by their place in the conjunction.
bool Search::may_know(const std::vector<Known>& moments, const Conjunction& conjunction, const Found& state,
                      std::map<size_t, Standing>& coming) const {
  auto known_by = [&](const Known& known, size_t i) {
    if (knows(unit(conjunction[i]), state.cut, known)) return true;
    if (known.moment.step != state.moments[i].step) return false;
    auto part = coming.find(i);
    if (part == coming.end()) return known.moment.detail < state.moments[i].detail;
    Standing& begins = part->second;
    if (begins.at.step != known.moment.step || begins.at.detail <= known.moment.detail) {
      begins.at = known.moment;
      begins.beyond = true;
    }
    return true;
  };
  return std::ranges::all_of(moments, [&](const Known& known) {
    for (size_t i = 0; i < conjunction.size(); ++i)
      if (known_by(known, i)) return true;
    return false;
  });
}

/// A state that another search has reached from the beginning, as it is known here, where some of its parts have
/// left it: the others are still to come, behind the same steps. `moments`: what they have to know of. None:
/// no part has left it, so that it is found anyway, or these moments are not the ones.
Result<std::optional<Found>> Search::carry_over(const Conjunction& conjunction, Found state, const Front& from,
                                                const std::vector<Known>& moments) {
  Front front = from;
  join(front, state.cut);
  std::map<size_t, Standing> coming;
  for (size_t i = 0; i < conjunction.size(); ++i) {
    if (has_left(conjunction[i], state, state.moments[i], from)) continue;
    coming[i] = {conjunction[i], moment_at(graph_, unit(conjunction[i]), front)};
  }
  if (coming.empty()) return state;
  if (coming.size() == conjunction.size() || !may_know(moments, conjunction, state, coming)) return std::nullopt;
  std::vector<Standing> parts;
  for (const auto& [place, part] : coming) parts.push_back(part);
  auto found = TRY(advance(std::move(front), std::move(parts)));
  if (!found) return std::nullopt;
  for (size_t next = 0; const auto& [place, part] : coming) {
    const Moment& moment = found->moments[next++];
    if (moment.step != state.moments[place].step) return std::nullopt;
    state.moments[place] = moment;
    state.details.erase(moment.step.thread);
    if (moment.detail != 0) state.details[moment.step.thread] = moment.detail;
  }
  return state;
}

/// The same for all that is possible with what was reached of the link before.
Status Search::carry_over(std::span<const Disjunction> links, std::span<const Reached> reached,
                          const Reached& past, const Front& from, Reached& into) {
  for (size_t i = 0; i < past.size(); ++i) {
    const Conjunction& conjunction = links.back()[i];
    for (const Found& state : past[i]) {
      auto carry = [&](const std::vector<Known>& moments) -> Status {
        auto carried = TRY(carry_over(conjunction, state, from, moments));
        if (carried) add_unless_later(conjunction, std::move(*carried), into[i]);
        return {};
      };
      if (reached.empty()) TRY_STATUS(carry({}));
      for (size_t k = 0; !reached.empty() && k < reached.back().size(); ++k)
        for (const Found& before : reached.back()[k])
          TRY_STATUS(carry(known(links[links.size() - 2][k], before)));
    }
  }
  return {};
}

/// The states of the last of these links, of which those before it have been reached.
Result<Reached> Search::behind(std::span<const Disjunction> links, std::span<const Reached> reached,
                               const Front& from) {
  CHECK(!links.empty() && reached.size() + 1 == links.size());
  Reached found(links.back().size());
  for (size_t i = 0; i < found.size(); ++i) {
    const Conjunction& conjunction = links.back()[i];
    if (reached.empty()) {
      auto state = TRY(first(conjunction, from));
      if (state) found[i].push_back(std::move(*state));
      continue;
    }
    for (size_t k = 0; k < reached.back().size(); ++k) {
      for (const Found& state : reached.back()[k])
        TRY_STATUS(find_behind(links[links.size() - 2][k], state, conjunction, from, found[i]));
    }
  }
  for (size_t i = 0; i < found.size(); ++i)
    for (Found& state : found[i]) state.alternative = i;
  return found;
}

Result<std::vector<Reached>> Search::reach(std::span<const Disjunction> links, const Front& from,
                                           std::span<const Reached> past) {
  CHECK(!links.empty() && past.size() < links.size());
  std::vector<Reached> all;
  for (size_t link = 0; link < links.size(); ++link) {
    Reached found = TRY(behind(links.first(link + 1), all, from));
    if (link < past.size()) TRY_STATUS(carry_over(links.first(link + 1), all, past[link], from, found));
    all.push_back(std::move(found));
  }
  return all;
}

std::vector<Found> Search::last_of(std::span<const Reached> links) const {
  std::vector<Found> all;
  for (const std::vector<Found>& states : links.back()) all.insert(all.end(), states.begin(), states.end());
  return minimal_of(std::move(all));
}

Result<std::vector<Found>> Search::again(std::span<const Disjunction> links, std::span<const Reached> reached,
                                         const Found& held) {
  const Disjunction& last = links.back();
  Reached next = TRY(behind(links, reached.first(links.size() - 1), held));
  next[held.alternative] = {held};  // whatever it is that is known there
  std::vector<Found> found;
  for (size_t i = 0; i < last.size(); ++i) {
    for (Found& state : next[i]) {
      if (not_beyond(graph_, state, held)) {
        std::ranges::move(TRY(again(last[i], state)), std::back_inserter(found));
      } else {
        found.push_back(std::move(state));
      }
    }
  }
  return minimal_of(std::move(found));
}

}  // namespace pastcone::debug

#include "pastcone/debug/search.h"

#include <algorithm>
#include <iterator>

#include "pastcone/base/check.h"

namespace pastcone::debug {

using causal::Cut;
using causal::Node;
using causal::Order;

/// Who stands at `from` behind its step stands there still.
std::vector<Search::Standing> Search::standing(const Conjunction& conjunction, const Front& from) const {
  std::vector<Standing> parts;
  for (size_t part : conjunction) parts.push_back(Standing{part, moment_at(graph_, unit(part), from)});
  return parts;
}

/// Asks those whose parts do not hold, or may not. False: one of them never does.
Result<bool> Search::ask(Front& front, std::vector<Standing>& parts) {
  std::vector<Ask> asks;
  for (const Standing& each : parts)
    if (!each.holds) asks.push_back({each.part, each.at, each.beyond, true});
  std::vector<std::optional<Moment>> answers = TRY(prober_.next(front, asks));
  CHECK(answers.size() == asks.size());
  Front reached = front;
  size_t next = 0;
  for (Standing& each : parts) {
    if (each.holds) continue;
    const std::optional<Moment>& answer = answers[next++];
    if (!answer) return false;
    CHECK(unit(each.part).has(answer->step.thread));
    CHECK(answer->step.event >= front.cut[answer->step.thread], "part {} was found in its past", each.part);
    each.at = *answer;
    each.holds = true;
    each.beyond = false;
    Cut needed = cut_of(graph_, unit(each.part), *answer);
    each.place = front;
    join(each.place, needed, *answer);
    join(reached, needed, *answer);
  }
  front = std::move(reached);
  return true;
}

Result<std::optional<Found>> Search::advance(Front front, std::vector<Standing> parts) {
  while (std::ranges::any_of(parts, [](const Standing& each) { return !each.holds; })) {
    if (!TRY(ask(front, parts))) return std::nullopt;
    for (Standing& each : parts) {
      if (same_place(graph_, unit(each.part), each.place, front)) continue;
      each.holds = false;  // another one needed it to go on
      each.at = moment_at(graph_, unit(each.part), front);
    }
  }
  Found state{std::move(front)};
  for (const Standing& each : parts) state.moments.push_back(each.at);
  return state;
}

Result<std::optional<Found>> Search::first(const Conjunction& conjunction, const Front& from) {
  return advance(from, standing(conjunction, from));
}

std::vector<Found> Search::minimal_of(std::vector<Found> states) const {
  std::vector<Found> minimal;
  for (size_t i = 0; i < states.size(); ++i) {
    bool least = true;
    for (size_t k = 0; k < states.size() && least; ++k) {
      if (k == i || !not_beyond(graph_, states[k], states[i])) continue;
      bool same = not_beyond(graph_, states[i], states[k]);
      least = same && i < k;
    }
    if (least) minimal.push_back(states[i]);
  }
  return minimal;
}

Result<std::vector<Found>> Search::minimal(const Disjunction& disjunction, const Front& from) {
  return last_of(TRY(reach(std::span(&disjunction, 1), from)));
}

Result<std::vector<Found>> Search::again(const Conjunction& conjunction, const Found& held) {
  std::vector<Found> found;
  for (size_t i = 0; i < conjunction.size(); ++i) {
    Ask ask{conjunction[i], standing(conjunction, held)[i].at, true, false};
    auto falls = TRY(prober_.next(held, std::span(&ask, 1))).front();
    if (!falls) continue;
    Front front = held;
    join(front, cut_of(graph_, unit(conjunction[i]), *falls), *falls);
    std::vector<Standing> parts = standing(conjunction, front);
    auto state = TRY(advance(std::move(front), std::move(parts)));
    if (!state) continue;
    state->alternative = held.alternative;
    found.push_back(std::move(*state));
  }
  return minimal_of(std::move(found));
}

}  // namespace pastcone::debug

#include "pastcone/debug/search.h"

#include <algorithm>

#include "pastcone/base/check.h"

namespace pastcone::debug {

using causal::Cut;
using causal::Node;
using causal::Order;

/// Who stands at `from` behind its step stands there still.
std::vector<Search::Standing> Search::standing(const Conjunction& conjunction, const Found& from) const {
  std::vector<Standing> parts;
  for (size_t part : conjunction) {
    Standing& each = parts.emplace_back(Standing{part, moment_at(graph_, unit(part), from.cut)});
    for (const Moment& moment : from.moments) {
      if (!unit(part).has(moment.step.thread) || moment.step.event != from.cut[moment.step.thread]) continue;
      if (moment.detail > each.at.detail) each.at = moment;
    }
  }
  return parts;
}

/// Asks those whose parts do not hold, or may not. False: one of them never does.
Result<bool> Search::ask(Cut& cut, std::vector<Standing>& parts) {
  std::vector<Ask> asks;
  for (const Standing& each : parts)
    if (!each.holds) asks.push_back({each.part, each.at, each.beyond, true});
  std::vector<std::optional<Moment>> answers = TRY(prober_.next(cut, asks));
  CHECK(answers.size() == asks.size());
  Cut reached = cut;
  size_t next = 0;
  for (Standing& each : parts) {
    if (each.holds) continue;
    const std::optional<Moment>& answer = answers[next++];
    if (!answer) return false;
    CHECK(unit(each.part).has(answer->step.thread));
    CHECK(answer->step.event >= cut[answer->step.thread], "part {} was found in its past", each.part);
    each.at = *answer;
    each.holds = true;
    each.beyond = false;
    each.place = cut_of(graph_, unit(each.part), *answer);
    join(each.place, cut);
    join(reached, each.place);
  }
  cut = std::move(reached);
  return true;
}

Result<std::optional<Found>> Search::advance(Cut cut, std::vector<Standing> parts) {
  while (std::ranges::any_of(parts, [](const Standing& each) { return !each.holds; })) {
    if (!TRY(ask(cut, parts))) return std::nullopt;
    for (Standing& each : parts) {
      if (same_place(graph_, unit(each.part), each.place, cut)) continue;
      each.holds = false;  // another one needed it to go on
      each.at = moment_at(graph_, unit(each.part), cut);
    }
  }
  Found state{std::move(cut), {}, 0};
  for (const Standing& each : parts) state.moments.push_back(each.at);
  return state;
}

Result<std::optional<Found>> Search::first(const Conjunction& conjunction, const Found& from) {
  return advance(from.cut, standing(conjunction, from));
}

std::vector<Found> Search::minimal_of(std::vector<Found> states, const Found& from) const {
  std::vector<Found> minimal;
  for (size_t i = 0; i < states.size(); ++i) {
    bool least = true;
    for (size_t k = 0; k < states.size() && least; ++k) {
      if (k == i || !not_beyond(graph_, states[k], states[i], from)) continue;
      bool same = not_beyond(graph_, states[i], states[k], from);
      least = same && i < k;
    }
    if (least) minimal.push_back(states[i]);
  }
  return minimal;
}

Result<std::vector<Found>> Search::minimal(const Disjunction& disjunction, const Found& from) {
  return linked(std::span(&disjunction, 1), from);
}

Result<std::vector<Found>> Search::again(const Conjunction& conjunction, const Found& held) {
  std::vector<Found> found;
  for (size_t i = 0; i < conjunction.size(); ++i) {
    std::vector<Standing> parts = standing(conjunction, held);
    Ask ask{conjunction[i], parts[i].at, true, false};
    auto falls = TRY(prober_.next(held.cut, std::span(&ask, 1))).front();
    if (!falls) continue;
    Cut cut = cut_of(graph_, unit(conjunction[i]), *falls);
    join(cut, held.cut);
    parts[i].at = *falls;
    for (size_t k = 0; k < parts.size(); ++k) {
      bool stays = k == i || same_place(graph_, unit(parts[k].part), cut, held.cut);
      if (!stays) parts[k].at = moment_at(graph_, unit(parts[k].part), cut);
    }
    auto state = TRY(advance(std::move(cut), std::move(parts)));
    if (!state) continue;
    state->alternative = held.alternative;
    found.push_back(std::move(*state));
  }
  return minimal_of(std::move(found), held);
}

}  // namespace pastcone::debug

// In which states predicates hold next.
#include <algorithm>
#include <iterator>
#include <set>
#include <type_traits>

#include "pastcone/cli/debug_predicates.h"
#include "pastcone/cli/debug_session.h"
#include "pastcone/cli/text.h"
#include "pastcone/debug/probe.h"
#include "pastcone/debug/search.h"

namespace pastcone::cli {

using debug::Found;
using debug::SimplePredicate;

/// What a probe of these parts tells. Where it turns out that they have to be looked at otherwise, it is asked once
/// more; `share` is told of a part that is about memory that processes share.
template <typename Ask>
auto DebugSession::probed(std::vector<debug::Part>& parts, debug::Telling& telling, const debug::State& origin,
                          const std::function<Status(debug::Part&)>& share, Ask ask)
    -> std::invoke_result_t<Ask, debug::Probe&> {
  for (;;) {
    debug::Probe probe(*engine_, parts, origin, codes_, [this] { return engine_->interrupted(); }, telling);
    auto told = ask(probe);
    if (told) return told;
    if (probe.told_too_little()) {
      telling = debug::Telling::kNo;
    } else if (std::optional<size_t> shared = probe.found_shared()) {
      probe.finish();
      TRY_STATUS(share(parts[*shared]));
    } else {
      return told;
    }
  }
}

/// A part of a predicate turned out to be about memory that processes share; and so are those that say the same of
/// several processes.
Status DebugSession::share_alike(SetPredicate& set, debug::Part& part) {
  if (set.plan.links.size() > 1)
    return fail("{}: this is in memory that {} shares with other processes (MAP_SHARED), which '->' is not for; say "
                "it with '&&', or of a variable that is not shared",
                debug::to_string(part.terms.front()), part.process);
  auto texts = [](const debug::Part& of) {
    std::vector<std::string> all;
    for (debug::SimplePredicate term : of.terms) {
      term.who = {};
      all.push_back(debug::to_string(term));
    }
    return all;
  };
  std::vector<std::string> said = texts(part);
  for (debug::Part& each : set.plan.parts)
    if (!each.shared && texts(each) == said) debug::share(world_, each);
  return {};
}

/// What the links before the last one reach, wherever one stands now.
Status DebugSession::find_past(SetPredicate& set) {
  if (set.past || set.plan.links.size() == 1) return {};
  auto share = [&](debug::Part& part) { return share_alike(set, part); };
  set.past = TRY(probed(set.plan.parts, set.telling, nothing(), share, [&](debug::Probe& probe) {
    debug::Search search(world_.graph, set.plan.units(), probe);
    return search.reach(std::span(set.plan.links).first(set.plan.links.size() - 1), probe.origin());
  }));
  return {};
}

/// The states, least first, in which a predicate holds next: behind the one that was stopped at, if that is where
/// one stands.
Result<std::vector<HeldState>> DebugSession::find_held(int number, const debug::State& origin, size_t most,
                                                       std::string& never) {
  SetPredicate& set = predicates_.at(number);
  auto share = [&](debug::Part& part) { return share_alike(set, part); };
  auto look = [&](const debug::State& from) {
    return probed(set.plan.parts, set.telling, from, share,
                  [&](debug::Probe& probe) { return find_held(number, probe, origin, most, never); });
  };
  if (set.plan.links.size() == 1 || origin.trails.empty()) {
    TRY_STATUS(find_past(set));
    return look(origin);
  }
  // What has been on the way from the last step to here can be told from what is still to come only by who has seen
  // both: from the beginning, if this is one of the states that are looked for; else from that step on.
  if (is_known(set, origin)) {
    std::vector<HeldState> states = TRY(look(nothing()));
    if (!states.empty() || !never.empty()) return states;
  }
  TRY_STATUS(find_past(set));
  return look(before_links(set, origin));
}

/// The same state, but whom the links before the last one are about stands at his last step.
debug::State DebugSession::before_links(const SetPredicate& set, debug::State from) const {
  std::vector<debug::Unit> units = set.plan.units();
  for (const debug::Disjunction& link : std::span(set.plan.links).first(set.plan.links.size() - 1))
    for (const debug::Conjunction& parts : link)
      for (size_t part : parts)
        std::erase_if(from.trails, [&](const auto& entry) { return units[part].has(*world_.graph.find(entry.first)); });
  return from;
}

/// Before anybody has begun.
debug::State DebugSession::nothing() const { return {causal::Cut(world_.graph.real_threads, 0), {}}; }

bool DebugSession::is_known(const SetPredicate& set, const debug::State& state) {
  return std::ranges::find(set.known, state) != set.known.end();
}

/// One was stopped there, or before: where it still holds that is no news.
bool DebugSession::is_behind_known(const SetPredicate& set, const debug::State& state) {
  return std::ranges::any_of(set.known, [&](const debug::State& known) {
    return known == state || std::ranges::equal(known.cut, state.cut, std::ranges::less_equal());
  });
}

/// From the first states on, up to the given one: those behind it. None: it is not among them.
Result<std::optional<std::vector<Found>>> DebugSession::find_behind(const SetPredicate& set, const debug::Probe& probe,
                                                                    debug::Search& search,
                                                                    const std::vector<debug::Reached>& reached,
                                                                    const debug::State& state) {
  std::set<std::pair<causal::Cut, std::map<uint32_t, uint64_t>>> seen;
  std::vector<Found> now = search.last_of(reached);
  while (!now.empty()) {
    std::vector<Found> next;
    for (const Found& one : now) {
      if (!seen.emplace(one.cut, one.details).second) continue;
      std::vector<Found> behind = TRY(search.again(set.plan.links, reached, one));
      if (probe.state_of(one) == state) return behind;
      std::ranges::move(behind, std::back_inserter(next));
    }
    now = std::move(next);
  }
  return std::nullopt;
}

/// Where to begin. It may hold where one stands, and has been shown: then it is the next time that is meant. None: one was
/// stopped here, but this is not among the states that are found.
Result<std::optional<std::vector<Found>>> DebugSession::find_next(const SetPredicate& set, const debug::Probe& probe,
                                                                  debug::Search& search,
                                                                  const std::vector<debug::Reached>& reached,
                                                                  const debug::State& origin) const {
  if (!is_behind_known(set, origin)) return search.last_of(reached);
  if (is_known(set, origin) && probe.begins_at(nothing())) return find_behind(set, probe, search, reached, origin);
  std::vector<Found> next;
  for (const Found& one : search.last_of(reached)) {
    if (probe.state_of(one) == origin)
      std::ranges::move(TRY(search.again(set.plan.links, reached, one)), std::back_inserter(next));
    else
      next.push_back(one);
  }
  return next;
}

static std::vector<std::string> count_terms(const std::vector<debug::Part>& parts, const debug::Probe& probe) {
  std::vector<std::string> counts;
  for (size_t part = 0; part < parts.size(); ++part) {
    for (size_t term = 0; term < parts[part].terms.size(); ++term) {
      size_t times = probe.times(part, term);
      std::string count = fmt::format("{} held {}", debug::to_string(parts[part].terms[term]),
                                      times == 0 ? std::string("never") : plural(times, "time", "times"));
      // Of a disjunction, several parts may say the same.
      if (std::ranges::find(counts, count) == counts.end()) counts.push_back(std::move(count));
    }
  }
  return counts;
}

/// A search does not look at what another term of the same process has decided already. So each is a part by itself.
Result<std::vector<std::string>> DebugSession::count_one_by_one(const std::vector<debug::Part>& parts,
                                                                const debug::State& origin) {
  std::vector<debug::Part> single;
  for (const debug::Part& part : parts) {
    for (const SimplePredicate& term : part.terms) {
      single.push_back(part);
      single.back().terms = {term};
    }
  }
  auto telling = debug::Telling::kAllowed;
  auto share = [this](debug::Part& part) -> Status {
    debug::share(world_, part);
    return {};
  };
  return probed(single, telling, origin, share, [&](debug::Probe& probe) -> Result<std::vector<std::string>> {
    TRY_STATUS(probe.look_at_all());
    return count_terms(single, probe);
  });
}

Result<std::vector<HeldState>> DebugSession::find_held(int number, debug::Probe& probe, const debug::State& origin,
                                                       size_t most, std::string& never) {
  SetPredicate& set = predicates_.at(number);
  debug::Search search(world_.graph, set.plan.units(), probe);
  bool from_beginning = set.plan.links.size() > 1 && probe.begins_at(nothing());
  std::span<const debug::Reached> past;
  if (set.past && !from_beginning) past = *set.past;
  std::vector<debug::Reached> reached = TRY(search.reach(set.plan.links, probe.origin(), past));
  auto state_of = [&](const Found& one) {
    HeldState held{number, probe.state_of(one), {}, {}};
    const debug::Conjunction& parts = set.plan.links.back()[one.alternative];
    for (size_t i = 0; i < one.moments.size(); ++i)
      held.threads.push_back(probe.made_by(parts[i], one, one.moments[i]));
    const debug::Part& first = set.plan.parts[parts.front()];
    held.focus = first.shared ? first.terms.front().who.thread : held.threads.front();
    return held;
  };
  bool stands_there = is_behind_known(set, origin);
  std::vector<HeldState> states;
  auto behind = [&](const Found& held) { return search.again(set.plan.links, reached, held); };
  auto begin = TRY(find_next(set, probe, search, reached, origin));
  if (!begin) return states;
  std::vector<Found> next = *std::move(begin);
  std::set<std::pair<causal::Cut, std::map<uint32_t, uint64_t>>> known;  // several ways may lead to the same
  std::set<std::pair<size_t, std::vector<debug::Moment>>> held_at;
  while (!next.empty() && states.size() < most) {
    std::vector<Found> after;
    for (const Found& one : next) {
      if (!known.emplace(one.cut, one.details).second || !held_at.emplace(one.alternative, one.moments).second) continue;
      states.push_back(state_of(one));
      if (states.size() >= most || !set.traces()) continue;
      for (Found& later : TRY(behind(one))) after.push_back(std::move(later));
    }
    next = set.traces() ? std::move(after) : std::vector<Found>();
  }
  if (states.empty() && stands_there) never = fmt::format("{} does not hold again", set.text);
  if (states.empty() && !stands_there) {
    TRY_STATUS(probe.look_at_all());
    std::vector<std::string> counts = count_terms(set.plan.parts, probe);
    probe.finish();
    if (!probe.counts_all()) counts = TRY(count_one_by_one(set.plan.parts, origin));
    never = fmt::format("{} never holds from here on: {}", set.text, fmt::join(counts, ", "));
  }
  probe.finish();
  std::ranges::stable_sort(states, {}, [](const HeldState& held) { return size_of(held.state); });
  return states;
}

}  // namespace pastcone::cli

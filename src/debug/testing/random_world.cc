#include "pastcone/debug/testing/random_world.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "pastcone/causal/build.h"

namespace pastcone::debug_testing {

using causal::Cut;
using causal::EdgeKind;
using causal_testing::TrueEdge;

World::World(std::mt19937& random, const WorldOptions& options) : random_(random) {
  causal_testing::RandomExecution execution =
      causal_testing::random_execution(random, {options.threads, options.steps, false});
  make_units(options.serial, execution);
  if (options.shared > 0) make_group(execution);
  truth_ = std::move(execution.truth);
  pasts_ = truth_.pasts(causal::kAllKinds);
  graph_ = std::move(causal::build(std::move(execution.input)).value());
  make_states();
  make_truth(options);
  if (options.shared > 0) make_shared(options);
}

/// In serial mode the turn goes from step to step.
void World::make_units(bool serial, causal_testing::RandomExecution& execution) {
  std::map<uint32_t, size_t> by_process;
  for (uint32_t thread = 0; thread < execution.input.threads.size(); ++thread) {
    uint32_t process = execution.input.threads[thread].id.process().number();
    if (!serial || !by_process.contains(process)) {
      by_process[process] = units_.size();
      units_.emplace_back();
    }
    units_[by_process[process]].threads.push_back(thread);
  }
  for (UnitStates& unit : units_) {
    for (Node node : execution.truth.nodes) {
      if (std::ranges::find(unit.threads, node.thread) == unit.threads.end()) continue;
      // A further thread begins without the turn.
      bool further = unit.threads.size() > 1 && execution.input.threads[node.thread].id.number() > 1;
      if (further && node.event <= 2) continue;
      if (!unit.chain.empty() && unit.chain.back().thread != node.thread) {
        execution.input.edges.push_back({unit.chain.back(), node, EdgeKind::kHandOver, 1});
        execution.truth.edges.push_back({unit.chain.back(), node, EdgeKind::kHandOver});
      }
      unit.chain.push_back(node);
    }
  }
}

/// Some units have one turn.
void World::make_group(causal_testing::RandomExecution& execution) {
  for (size_t unit = 0; unit < units_.size(); ++unit) {
    bool shares = unit < 2 || below(2) == 0;
    if (shares) std::ranges::copy(units_[unit].threads, std::back_inserter(group_));
  }
  for (Node node : execution.truth.nodes) {
    if (std::ranges::find(group_, node.thread) == group_.end()) continue;
    if (node.event <= 2) continue;  // who begins has no turn yet
    if (!group_chain_.empty() && group_chain_.back().thread != node.thread) {
      execution.input.edges.push_back({group_chain_.back(), node, EdgeKind::kHandOver, 1});
      execution.truth.edges.push_back({group_chain_.back(), node, EdgeKind::kHandOver});
    }
    group_chain_.push_back(node);
  }
}

void World::make_states() {
  for (UnitStates& unit : units_) {
    for (size_t done = 0; done <= unit.chain.size(); ++done) {
      NodeSet need;
      if (done > 0) need = pasts_[truth_.place(unit.chain[done - 1])];
      // A thread does nothing before its first step.
      bool runs = done > 0 && (done == unit.chain.size() || unit.chain[done].event > 1);
      // Nobody of a group runs inside an event: another one may have the turn.
      bool inside = done < unit.chain.size() && unit.chain[done].event % 2 == 0;
      bool alone = group_.empty() || std::ranges::find(group_, unit.threads.front()) == group_.end();
      bool last = done == unit.chain.size();
      runs = runs && (alone || (!inside && !last));
      unit.details.push_back(runs ? below(3) : 0);
      unit.need.push_back({need});
      if (runs && done < unit.chain.size()) {
        need |= pasts_[truth_.place({unit.chain[done].thread, unit.chain[done].event - 1})];
      }
      if (runs && done < unit.chain.size() && unit.chain[done].event % 2 == 1) {
        for (const TrueEdge& edge : truth_.edges) {
          bool waits = edge.to == unit.chain[done] && edge.kind == EdgeKind::kHandOver;
          if (waits) need |= pasts_[truth_.place(edge.from)];
        }
      }
      for (uint64_t detail = 1; detail <= unit.details.back(); ++detail) unit.need.back().push_back(need);
    }
  }
}

void World::make_truth(const WorldOptions& options) {
  for (uint32_t part = 0; part < options.parts; ++part) {
    size_t unit = below(units_.size());
    part_units_.push_back(unit);
    parts_.push_back({units_[unit].threads});
    truth_of_.emplace_back();
    for (uint64_t details : units_[unit].details) {
      truth_of_.back().emplace_back();
      for (uint64_t detail = 0; detail <= details; ++detail)
        truth_of_.back().back().push_back(options.truth != 0 && below(options.truth) == 0);
    }
  }
}

/// Between two steps of one that has the turn, and at the end of its events.
void World::make_writes() {
  for (size_t place = 0; place < group_chain_.size(); ++place) {
    Node node = group_chain_[place];
    if (node.event % 2 == 0 && below(3) == 0) writes_.push_back({{node, 0}, place + 1});
    for (const UnitStates& unit : units_) {
      auto at = std::ranges::find(unit.chain, node);
      if (at == unit.chain.end() || node.event % 2 == 0) continue;
      uint64_t most = unit.details[static_cast<size_t>(at - unit.chain.begin())];
      for (uint64_t detail = 1; detail <= most; ++detail)
        if (below(2) == 0) writes_.push_back({{{node.thread, node.event - 1}, detail * 10}, place});
    }
  }
  std::ranges::stable_sort(writes_, {},
                           [](const Write& write) { return std::pair(write.place, write.moment.detail); });
}

void World::make_shared(const WorldOptions& options) {
  make_writes();
  for (uint32_t i = 0; i < options.shared; ++i) {
    SharedPart& part = shared_.emplace_back();
    for (size_t k = 0; k <= writes_.size(); ++k)
      part.values.push_back(options.truth != 0 && below(options.truth) == 0);
    uint32_t thread = group_[below(group_.size())];
    part.born = {thread, std::min<uint32_t>(2, truth_.events[thread])};
    Unit unit{group_, true};
    if (part.born.event != 0) unit.born = part.born;
    parts_.push_back(unit);
  }
}

Conjunction World::any_shared(size_t most) {
  Conjunction all{part_units_.size() + below(shared_.size())};
  for (size_t tries = 0; tries < 4 * most && all.size() < most; ++tries) {
    size_t part = below(parts_.size());
    bool is_shared = part >= part_units_.size();
    auto same = [&](size_t other) {
      return other == part ||
             (!is_shared && other < part_units_.size() && part_units_[other] == part_units_[part]);
    };
    if (std::ranges::none_of(all, same)) all.push_back(part);
  }
  return all;
}

size_t World::writes_in(const Front& front) const {
  size_t count = 0;
  while (count < writes_.size() && debug::has(front, writes_[count].moment)) ++count;
  return count;
}

std::optional<Moment> World::next_shared(const Front& front, const debug::Ask& ask) const {
  const SharedPart& part = shared_[ask.part - part_units_.size()];
  Front there = front;
  if (part.born.event != 0) debug::join(there, cut_of(pasts_[truth_.place(part.born)]));
  size_t count = writes_in(there);
  if (part.values[count] == ask.holds) {
    if (there.cut[part.born.thread] != front.cut[part.born.thread]) return Moment{part.born, 0};
    return ask.from;
  }
  for (; count < writes_.size(); ++count)
    if (part.values[count + 1] == ask.holds) return writes_[count].moment;
  return {};
}

/// How far a thread can have gone on if this has happened.
uint64_t World::most_detail(const NodeSet& set, uint32_t thread) const {
  for (size_t unit = 0; unit < units_.size(); ++unit) {
    const UnitStates& states = units_[unit];
    if (std::ranges::find(states.threads, thread) == states.threads.end()) continue;
    size_t done = done_in(unit, set);
    if (moment_of(unit, {done, 1}).step.thread != thread || done == 0) return 0;
    uint64_t most = states.details[done];
    return most != 0 && (states.need[done][1] & ~set).none() ? most : 0;
  }
  return 0;
}

bool World::holds(size_t part, const Front& front, const NodeSet& set) const {
  if (part < part_units_.size()) {
    size_t unit = part_units_[part];
    Spot spot{done_in(unit, set), 0};
    for (uint32_t thread : units_[unit].threads)
      if (uint64_t detail = front.detail_of(thread)) spot.detail = detail / 10;
    return is_true(part, spot);
  }
  const SharedPart& shared = shared_[part - part_units_.size()];
  return front.cut[shared.born.thread] >= shared.born.event && shared.values[writes_in(front)];
}

std::vector<Front> World::fronts(const Conjunction& conjunction, const Front& from) const {
  std::vector<Front> all;
  NodeSet begin = set_of(from.cut);
  each_cut([&](const NodeSet& set) {
    if ((begin & ~set).any()) return;
    Front front{cut_of(set)};
    auto threads = static_cast<uint32_t>(truth_.events.size());
    std::vector<uint64_t> least(threads, 0), most(threads, 0);
    for (uint32_t thread = 0; thread < threads; ++thread) {
      most[thread] = most_detail(set, thread);
      if (front.cut[thread] == from.cut[thread]) least[thread] = from.detail_of(thread) / 10;
    }
    std::vector<uint64_t> now = least;
    for (bool more = true; more;) {
      front.details.clear();
      for (uint32_t thread = 0; thread < threads; ++thread)
        if (now[thread] != 0) front.details[thread] = now[thread] * 10;
      if (std::ranges::all_of(conjunction, [&](size_t part) { return holds(part, front, set); }))
        all.push_back(front);
      more = false;
      for (size_t i = 0; i < now.size() && !more; ++i) {
        more = now[i] < most[i];
        now[i] = more ? now[i] + 1 : least[i];
      }
    }
  });
  return all;
}

bool World::was_false(size_t part, const Front& from, const Front& until) const {
  if (part >= part_units_.size()) {
    const std::vector<bool>& values = shared_[part - part_units_.size()].values;
    for (size_t count = writes_in(from); count < writes_in(until); ++count)
      if (!values[count]) return true;
    return false;
  }
  auto spot = [&](const Front& front) {
    Spot found{done_in(part_units_[part], set_of(front.cut)), 0};
    for (uint32_t thread : units_[part_units_[part]].threads)
      if (uint64_t detail = front.detail_of(thread)) found.detail = detail / 10;
    return found;
  };
  return was_false(part, spot(from), spot(until));
}

Conjunction World::any_conjunction(size_t most) {
  Conjunction all;
  for (size_t tries = 0; tries < 4 * most && all.size() < most; ++tries) {
    size_t part = below(part_units_.size());
    auto same = [&](size_t other) { return part_units_[other] == part_units_[part]; };
    if (std::ranges::none_of(all, same)) all.push_back(part);
  }
  return all;
}

Cut World::any_cut() {
  NodeSet set;
  while (below(3) != 0 && !truth_.nodes.empty()) set |= pasts_[below(truth_.nodes.size())];
  return cut_of(set);
}

NodeSet World::set_of(const Cut& cut) const {
  NodeSet set;
  for (size_t i = 0; i < truth_.nodes.size(); ++i)
    if (truth_.nodes[i].event <= cut[truth_.nodes[i].thread]) set.set(i);
  return set;
}

/// Entries of hubs are what the graph says.
Cut World::cut_of(const NodeSet& set) const {
  std::vector<Node> nodes;
  for (size_t i = 0; i < truth_.nodes.size(); ++i)
    if (set[i]) nodes.push_back(truth_.nodes[i]);
  return causal::past_cone(graph_, nodes, causal::Order::kEnforced);
}

size_t World::done_in(size_t unit, const NodeSet& set) const {
  const std::vector<Node>& chain = units_[unit].chain;
  size_t done = 0;
  while (done < chain.size() && set[truth_.place(chain[done])]) ++done;
  return done;
}

Moment World::moment_of(size_t unit, Spot spot) const {
  const UnitStates& states = units_[unit];
  if (spot.done == 0) return {{states.threads.front(), 0}, 0};
  Node last = states.chain[spot.done - 1];
  if (spot.detail == 0) return {last, 0};
  uint32_t runs = spot.done < states.chain.size() ? states.chain[spot.done].thread : last.thread;
  Moment moment{{runs, 0}, spot.detail * 10};
  if (spot.done < states.chain.size()) {
    moment.step.event = states.chain[spot.done].event - 1;
  } else {
    moment.step.event = last.event;
  }
  return moment;
}

Result<std::vector<std::optional<Moment>>> World::next(const Front& front, std::span<const debug::Ask> asks) {
  std::vector<std::optional<Moment>> answers;
  for (const debug::Ask& ask : asks) {
    ++asked_;
    if (ask.part >= part_units_.size()) {
      answers.push_back(next_shared(front, ask));
      continue;
    }
    size_t unit = part_units_[ask.part];
    Spot spot{done_in(unit, set_of(front.cut)), ask.from.detail / 10};
    if (moment_of(unit, spot) != ask.from) return fail("{} is not where the cut is", ask.from.step.event);
    answers.emplace_back();
    for (bool skip = ask.beyond; spot.done < units_[unit].details.size(); skip = false) {
      if (!skip && is_true(ask.part, spot) == ask.holds) {
        answers.back() = moment_of(unit, spot);
        break;
      }
      spot = spot.detail < units_[unit].details[spot.done] ? Spot{spot.done, spot.detail + 1}
                                                           : Spot{spot.done + 1, 0};
    }
  }
  return answers;
}

void World::each_cut(const std::function<void(const NodeSet&)>& visit) const {
  Cut cut(truth_.events.size(), 0);
  std::vector<std::vector<NodeSet>> own(cut.size());  // of each thread, its first so many events
  for (uint32_t thread = 0; thread < cut.size(); ++thread) {
    own[thread].emplace_back();
    for (uint32_t event = 1; event <= truth_.events[thread]; ++event) {
      own[thread].push_back(own[thread].back());
      own[thread].back().set(truth_.place({thread, event}));
    }
  }
  for (bool more = true; more;) {
    NodeSet set, closed;
    for (uint32_t thread = 0; thread < cut.size(); ++thread) {
      set |= own[thread][cut[thread]];
      if (cut[thread] != 0) closed |= pasts_[truth_.place({thread, cut[thread]})];
    }
    if (closed == set) visit(set);
    more = false;
    for (size_t i = 0; i < cut.size() && !more; ++i) {
      more = cut[i] < truth_.events[i];
      cut[i] = more ? cut[i] + 1 : 0;
    }
  }
}

std::optional<Found> World::true_first(const Conjunction& conjunction, const Cut& from) const {
  NodeSet least, begin = set_of(from);
  bool any = false;
  auto spots_in = [&](const NodeSet& set) {
    Spots spots;
    for (size_t part : conjunction) {
      size_t unit = part_units_[part];
      Spot spot{done_in(unit, set), 0};
      auto possible = [&] { return (units_[unit].need[spot.done][spot.detail] & ~set).none(); };
      while (spot.detail <= units_[unit].details[spot.done] && !(possible() && is_true(part, spot)))
        ++spot.detail;
      if (spot.detail > units_[unit].details[spot.done]) return Spots();
      spots.push_back(spot);
    }
    return spots;
  };
  each_cut([&](const NodeSet& set) {
    if ((begin & ~set).any() || spots_in(set).size() != conjunction.size()) return;
    least = any ? least & set : set;
    any = true;
  });
  if (!any) return {};
  Spots spots = spots_in(least);
  if (spots.size() != conjunction.size()) return Found{};  // then there is no least one
  return state_of(conjunction, spots, from);
}

Found World::state_of(const Conjunction& conjunction, const Spots& spots, const Cut& from) const {
  NodeSet set = set_of(from);
  Found state;
  for (size_t i = 0; i < conjunction.size(); ++i) {
    size_t unit = part_units_[conjunction[i]];
    set |= units_[unit].need[spots[i].done][spots[i].detail];
    state.moments.push_back(moment_of(unit, spots[i]));
  }
  state.cut = cut_of(set);
  return state;
}

std::vector<Spots> World::solutions(const Conjunction& conjunction, const Cut& from) const {
  std::vector<Spots> all;
  std::vector<std::vector<Spot>> choices;
  for (size_t part : conjunction) {
    choices.emplace_back();
    const UnitStates& unit = units_[part_units_[part]];
    for (size_t done = done_in(part_units_[part], set_of(from)); done < unit.details.size(); ++done) {
      for (uint64_t detail = 0; detail <= unit.details[done]; ++detail)
        if (is_true(part, {done, detail})) choices.back().push_back({done, detail});
    }
    if (choices.back().empty()) return all;
  }
  std::vector<size_t> chosen(conjunction.size(), 0);
  for (bool more = true; more;) {
    Spots spots;
    NodeSet set = set_of(from);
    for (size_t i = 0; i < chosen.size(); ++i) {
      spots.push_back(choices[i][chosen[i]]);
      set |= units_[part_units_[conjunction[i]]].need[spots[i].done][spots[i].detail];
    }
    bool fits = true;
    for (size_t i = 0; i < chosen.size(); ++i)
      fits = fits && done_in(part_units_[conjunction[i]], set) == spots[i].done;
    if (fits) all.push_back(std::move(spots));
    more = false;
    for (size_t i = 0; i < chosen.size() && !more; ++i) {
      more = ++chosen[i] < choices[i].size();
      if (!more) chosen[i] = 0;
    }
  }
  return all;
}

bool World::has_in_past(const Conjunction& a, const Spots& spots_a, const Conjunction& b,
                        const Spots& spots_b) const {
  for (size_t i = 0; i < a.size(); ++i) {
    size_t unit = part_units_[a[i]];
    bool known = false;
    for (size_t k = 0; k < b.size() && !known; ++k) {
      size_t other = part_units_[b[k]];
      if (unit == other) {
        known = spots_b[k] > spots_a[i];
      } else if (spots_a[i].done < units_[unit].chain.size()) {
        Node left = units_[unit].chain[spots_a[i].done];
        // Known by what the other unit has done, not by what it waits for.
        known = units_[other].need[spots_b[k].done][0][truth_.place(left)];
      }
    }
    if (!known) return false;
  }
  return true;
}

bool World::was_false(size_t part, Spot from, Spot until) const {
  const UnitStates& unit = units_[part_units_[part]];
  while (from < until) {
    if (!is_true(part, from)) return true;
    from = from.detail < unit.details[from.done] ? Spot{from.done, from.detail + 1} : Spot{from.done + 1, 0};
  }
  return false;
}

bool World::not_beyond(const Found& a, const Found& b) {
  auto detail = [](const Found& state, uint32_t thread) {
    uint64_t most = 0;
    for (const Moment& each : state.moments)
      if (each.step == Node{thread, state.cut[thread]}) most = std::max(most, each.detail);
    return most;
  };
  for (uint32_t thread = 0; thread < a.cut.size(); ++thread) {
    if (std::pair(a.cut[thread], detail(a, thread)) > std::pair(b.cut[thread], detail(b, thread)) &&
        (a.cut[thread] != b.cut[thread] || detail(a, thread) > detail(b, thread)))
      return false;
  }
  return true;
}

std::vector<Found> World::true_minimal(std::vector<Found> states) const {
  for (Found& state : states) state.cut.resize(graph_.real_threads);
  std::vector<Found> minimal;
  for (const Found& state : states) {
    auto before = [&](const Found& other) { return not_beyond(other, state) && !not_beyond(state, other); };
    auto same = [&](const Found& other) { return not_beyond(other, state) && not_beyond(state, other); };
    if (std::ranges::none_of(states, before) && std::ranges::none_of(minimal, same)) minimal.push_back(state);
  }
  return sorted(std::move(minimal));
}

std::vector<Found> World::sorted(std::vector<Found> states) const {
  for (Found& state : states) {
    state.cut.resize(graph_.real_threads);
    std::erase_if(state.moments, [](const Moment& each) { return each.detail == 0; });
    std::ranges::sort(state.moments);
  }
  std::ranges::sort(states, [](const Found& a, const Found& b) {
    return std::tie(a.cut, a.moments) < std::tie(b.cut, b.moments);
  });
  return states;
}

}  // namespace pastcone::debug_testing

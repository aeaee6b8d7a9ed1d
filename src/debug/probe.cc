#include "pastcone/debug/probe.h"

#include <algorithm>

namespace pastcone::debug {

Probe::Probe(Engine& engine, const std::vector<Part>& parts, State origin, TermCodes& codes,
             std::function<bool()> interrupted, Telling telling)
    : world_(engine.world()),
      engine_(engine),
      parts_(parts),
      origin_(std::move(origin)),
      found_origin_(beginning(world_.graph)),
      codes_(codes),
      interrupted_(std::move(interrupted)),
      telling_(telling) {
  origin_.cut.resize(world_.graph.real_threads);
  std::ranges::copy(origin_.cut, found_origin_.cut.begin());
  for (const auto& [thread, trail] : origin_.trails) {
    uint32_t index = *world_.graph.find(thread);
    found_origin_.details[index] = 1;
  }
}

Probe::~Probe() = default;

Scan& Probe::scan() {
  if (!scan_) {
    engine_.end();  // one replay at a time
    scan_ = std::make_unique<Scan>(world_, parts_, origin_, codes_, telling_, interrupted_,
                                   engine_.options().on_wait);
  }
  return *scan_;
}

Result<std::vector<std::optional<Moment>>> Probe::next(const Front& front, std::span<const Ask> asks) {
  was_interrupted_ = false;
  scan();
  std::vector<TruthLog::Answer> answers(asks.size(), {TruthLog::Kind::kNotYet});
  auto known = [&] {
    for (size_t i = 0; i < asks.size(); ++i) {
      if (answers[i].kind != TruthLog::Kind::kNotYet) continue;
      answers[i] = answer(front, asks[i]);
    }
    return std::ranges::none_of(answers, [](const auto& one) { return one.kind == TruthLog::Kind::kNotYet; });
  };
  if (!known()) {
    Scan::Halt halt = TRY(scan_->run(known));
    if (halt == Scan::Halt::kInterrupted) {
      was_interrupted_ = true;
      return fail("interrupted");
    }
    known();
  }
  std::vector<std::optional<Moment>> moments;
  for (size_t i = 0; i < asks.size(); ++i) {
    bool found = answers[i].kind == TruthLog::Kind::kAt;
    const Part& part = parts_[asks[i].part];
    bool gone = found && asks[i].holds && !part.shared && is_over(part, answers[i].moment);
    moments.push_back(found && !gone ? std::optional(answers[i].moment) : std::nullopt);
  }
  return moments;
}

TruthLog::Answer Probe::answer(const Front& front, const Ask& ask) {
  if (parts_[ask.part].shared) return answer_shared(front, ask);
  const TruthLog& log = scan_->log(ask.part);
  bool ended = scan_->ended(ask.part);
  if (!parts_[ask.part].unit.at_once)
    return log.answer(world_.graph, ask, scan_->passed(ask.part, ask.from), ended);
  auto had = [&](const Moment& moment) { return has(front, moment); };
  TruthLog::Answer found = log.answer(world_.graph, ask, had, scan_->passed(ask.part, front.cut), ended);
  bool waits = found.kind == TruthLog::Kind::kAt && !ended && !is_settled(ask.part, found.moment);
  return waits ? TruthLog::Answer{TruthLog::Kind::kNotYet} : found;
}

/// What is written comes in the order of turns, as it is seen. It holds only while the process is there that
/// it is about.
TruthLog::Answer Probe::answer_shared(const Front& front, const Ask& ask) {
  const Part& part = parts_[ask.part];
  Front there = front;
  if (part.unit.born) join(there, causal::past_cone(world_.graph, *part.unit.born, causal::Order::kEnforced));
  auto had = [&](const Moment& moment) { return has(there, moment); };
  bool passed = scan_->passed(ask.part, there.cut), ended = scan_->ended(ask.part);
  TruthLog::Answer found = scan_->log(ask.part).answer(world_.graph, ask, had, passed, ended);
  if (found.kind != TruthLog::Kind::kAt || !ask.holds) return found;
  bool at_birth = found.moment == ask.from && part.unit.born && !has(front, {*part.unit.born, 0});
  if (at_birth) found.moment = {*part.unit.born, 0};
  join(there, cut_of(world_.graph, part.unit, found.moment));
  return has_ended(part, there.cut) ? TruthLog::Answer{TruthLog::Kind::kNever} : found;
}

/// Whether all threads of the unit have come to where they know of the moment: what they have written before
/// is known, and whether that has an order.
bool Probe::is_settled(size_t part, const Moment& moment) {
  const causal::Graph& graph = world_.graph;
  auto [known, is_new] = settled_at_.try_emplace(moment);
  if (is_new) {
    causal::Node next{moment.step.thread, moment.step.event + 1};
    bool last = next.event > graph.threads[next.thread].events;
    if (!last) known->second = causal::future_cone(graph, std::span(&next, 1), causal::Order::kEnforced);
    known->second.resize(graph.thread_count(), UINT32_MAX);
    for (uint32_t thread = 0; thread < graph.real_threads; ++thread)
      known->second[thread] = std::min<uint32_t>(known->second[thread], graph.threads[thread].events);
    known->second[next.thread] = 0;  // its own are in order
  }
  return scan_->passed(part, known->second);
}

/// Nothing holds in a process that has ended.
bool Probe::is_over(const Part& part, const Moment& moment) const {
  if (!ends(world_, part.process)) return false;
  MomentKey now = key_of(world_.graph, moment);
  return std::ranges::all_of(part.unit.threads, [&](uint32_t thread) {
    return key_of(world_.graph, {{thread, world_.graph.threads[thread].events}, 0}) <= now;
  });
}

bool Probe::has_ended(const Part& part, const causal::Cut& cut) const {
  if (!ends(world_, part.process)) return false;
  for (uint32_t thread : part.unit.threads) {
    const causal::Thread& each = world_.graph.threads[thread];
    if (each.process == part.process.number() && cut[thread] < each.events) return false;
  }
  return true;
}

State Probe::state_of(const Found& found) const {
  State state{found.cut, {}};
  state.cut.resize(world_.graph.real_threads);
  for (const auto& [index, detail] : found.details) {
    ThreadId thread = world_.graph.thread_id(index);
    auto there = origin_.trails.find(thread);
    bool at_origin = there != origin_.trails.end() && origin_.cut[index] == found.cut[index];
    if (at_origin && detail == 1) {
      state.trails[thread] = there->second;
      continue;
    }
    causal::Node step{index, found.cut[index]};
    Trail& trail = state.trails[thread];
    if (auto exact = trail_to({step, detail})) {
      trail = *exact;
    } else if (auto before = trail_to({step, detail - 1})) {
      trail = *before;
      trail.push_back({Move::Kind::kSteps, 0, 1, 0});
    } else {
      trail = {{Move::Kind::kSteps, 0, detail, 0}};
    }
  }
  return state;
}

/// As one of the parts knows it.
std::optional<Trail> Probe::trail_to(const Moment& moment) const {
  for (size_t part = 0; scan_ && part < parts_.size(); ++part) {
    if (!parts_[part].unit.has(moment.step.thread)) continue;
    if (auto trail = scan_->log(part).trail(moment)) return trail;
  }
  return {};
}

ThreadId Probe::made_by(size_t part, const Front& front, const Moment& moment) const {
  uint32_t thread = moment.step.thread;
  if (parts_[part].shared && scan_) {
    for (const TruthLog::Change& change : scan_->log(part).changes())
      if (has(front, change.moment)) thread = change.moment.step.thread;
  }
  return world_.graph.thread_id(thread);
}

Status Probe::look_at_all() {
  was_interrupted_ = TRY(scan().run([] { return false; })) == Scan::Halt::kInterrupted;
  if (was_interrupted_) return fail("interrupted");
  return {};
}

size_t Probe::times(size_t part) const { return scan_ ? scan_->log(part).times() : 0; }
size_t Probe::times(size_t part, size_t term) const { return scan_ ? scan_->times(part, term) : 0; }

void Probe::finish() {
  if (scan_) scan_->end();
}

}  // namespace pastcone::debug

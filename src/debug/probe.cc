#include "pastcone/debug/probe.h"

#include <algorithm>

namespace pastcone::debug {

Probe::Probe(Engine& engine, const std::vector<Part>& parts, State origin, TermCodes& codes,
             std::function<bool()> interrupted)
    : world_(engine.world()),
      engine_(engine),
      parts_(parts),
      origin_(std::move(origin)),
      found_origin_(beginning(world_.graph)),
      codes_(codes),
      interrupted_(std::move(interrupted)) {
  origin_.cut.resize(world_.graph.real_threads);
  std::ranges::copy(origin_.cut, found_origin_.cut.begin());
  for (const auto& [thread, trail] : origin_.trails) {
    uint32_t index = *world_.graph.find(thread);
    found_origin_.moments.push_back({{index, origin_.cut[index]}, 1});
  }
}

Probe::~Probe() = default;

Result<std::vector<std::optional<Moment>>> Probe::next(const causal::Cut& cut, std::span<const Ask> asks) {
  was_interrupted_ = false;
  if (!scan_) {
    engine_.end();  // one replay at a time
    scan_ = std::make_unique<Scan>(world_, parts_, origin_, codes_, interrupted_, engine_.options().on_wait);
  }
  std::vector<TruthLog::Answer> answers(asks.size(), {TruthLog::Kind::kNotYet});
  auto known = [&] {
    for (size_t i = 0; i < asks.size(); ++i) {
      if (answers[i].kind != TruthLog::Kind::kNotYet) continue;
      answers[i] = answer(cut, asks[i]);
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
    bool gone = found && asks[i].holds && is_over(parts_[asks[i].part], answers[i].moment);
    moments.push_back(found && !gone ? std::optional(answers[i].moment) : std::nullopt);
  }
  return moments;
}

TruthLog::Answer Probe::answer(const causal::Cut& cut, const Ask& ask) {
  const TruthLog& log = scan_->log(ask.part);
  bool ended = scan_->ended(ask.part);
  if (!parts_[ask.part].unit.at_once)
    return log.answer(world_.graph, ask, scan_->passed(ask.part, ask.from), ended);
  auto has = [&](const Moment& moment) {
    const auto& [thread, event] = moment.step;
    if (event != cut[thread] || moment.detail == 0) return event <= cut[thread];
    uint64_t here = event == found_origin_.cut[thread] ? found_origin_.detail_of(thread) : 0;
    if (ask.from.step == moment.step) here = std::max(here, ask.from.detail);
    return moment.detail <= here;
  };
  TruthLog::Answer found = log.answer(world_.graph, ask, has, scan_->passed(ask.part, cut), ended);
  bool waits = found.kind == TruthLog::Kind::kAt && !ended && !is_settled(ask.part, found.moment);
  return waits ? TruthLog::Answer{TruthLog::Kind::kNotYet} : found;
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
  const ProcessRecord* process = world_.processes.find(part.process);
  if (process == nullptr || (process->end.kind != End::Kind::kExited && process->end.kind != End::Kind::kSignalled))
    return false;
  MomentKey now = key_of(world_.graph, moment);
  return std::ranges::all_of(part.unit.threads, [&](uint32_t thread) {
    return key_of(world_.graph, {{thread, world_.graph.threads[thread].events}, 0}) <= now;
  });
}

State Probe::state_of(const Found& found) const {
  State state{found.cut, {}};
  state.cut.resize(world_.graph.real_threads);
  for (const Moment& moment : found.moments) {
    uint32_t index = moment.step.thread;
    if (moment.detail == 0 || found.cut[index] != moment.step.event) continue;
    ThreadId thread = world_.graph.thread_id(index);
    auto there = origin_.trails.find(thread);
    bool at_origin = there != origin_.trails.end() && origin_.cut[index] == moment.step.event;
    if (at_origin && moment.detail == 1) {
      state.trails[thread] = there->second;
      continue;
    }
    for (size_t part = 0; scan_ && part < parts_.size(); ++part) {
      if (!parts_[part].unit.has(index)) continue;
      if (auto trail = scan_->log(part).trail(moment)) state.trails[thread] = *trail;
    }
    if (!state.trails.contains(thread)) state.trails[thread] = {{Move::Kind::kSteps, 0, moment.detail, 0}};
  }
  // Those that nobody has moved stay where they are.
  for (const auto& [thread, trail] : origin_.trails)
    if (uint32_t index = *world_.graph.find(thread); state.cut[index] == origin_.cut[index])
      state.trails.try_emplace(thread, trail);
  return state;
}

Status Probe::look_at_all() {
  if (!scan_) return {};
  was_interrupted_ = TRY(scan_->run([] { return false; })) == Scan::Halt::kInterrupted;
  if (was_interrupted_) return fail("interrupted");
  return {};
}

size_t Probe::times(size_t part) const { return scan_ ? scan_->log(part).times() : 0; }
size_t Probe::times(size_t part, size_t term) const { return scan_ ? scan_->times(part, term) : 0; }

void Probe::finish() {
  if (scan_) scan_->end();
}

}  // namespace pastcone::debug

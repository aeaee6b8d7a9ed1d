#include "pastcone/debug/motion.h"

#include <algorithm>

#include "pastcone/debug/horizons.h"
#include "pastcone/graph/steps.h"

namespace pastcone::debug {
namespace {

using causal::Cut;
using replay::Halt;

}  // namespace

/// The next place, in plain steps, where the process begins with a program.
std::optional<Gate> Motion::next_gate(ProcessId process) const {
  if (!gates_.wanted || !gates_.wanted(process)) return {};
  const ProcessRecord* record = world_.processes.find(process);
  if (record == nullptr) return {};
  std::vector<Gate> gates;
  if (record->parent.valid()) gates.push_back({ThreadId(process, 1), 1});  // on its way into its first event
  for (const ProgramRun& program : record->programs)
    gates.push_back({program.event.thread(), 2 * program.event.index()});
  for (const Gate& gate : gates) {
    uint64_t done = run_.steps_done(gate.thread);
    if (gate.step > done || (gate.step == done && is_at(gate) && !run_.opened.contains(gate))) return gate;
  }
  return {};
}

void Motion::note(const Arrival& arrival) {
  if (arrival.halt != Halt::kTraced) {
    rest_.halt = arrival.halt;
    return;
  }
  rest_.stops.push_back({arrival.stop, arrival.thread});
  held_.insert(arrival.thread.process());
}

Status Motion::run(const Cut& target) {
  for (const auto& [thread, stream] : world_.recording.threads())
    began_.try_emplace(thread, run_.steps_done(thread));
  for (;;) {
    replay::Horizons horizons = horizons_of(world_.recording, world_.graph, target);
    std::map<ProcessId, Gate> ahead;
    for (auto& [thread, horizon] : horizons) {
      auto beyond = beyond_.find(thread);
      if (beyond != beyond_.end() && horizon.step == beyond->second.step)
        horizon.point = std::max(horizon.point, beyond->second.point);
    }
    for (const auto& [process, record] : world_.processes.processes()) {
      std::optional<Gate> gate = next_gate(process);
      if (!gate) continue;
      replay::Horizon& horizon = horizons[gate->thread];
      if (horizon.step < gate->step) continue;
      horizon = {gate->step, 0};
      ahead[process] = *gate;
    }
    limited_ = false;
    clamp(horizons);
    Arrival arrival = run_.run(horizons, staying(horizons));
    if (arrival.halt == Halt::kTraced && gates_.passes && TRY(gates_.passes(arrival))) continue;
    note(arrival);
    if (run_.live().diverged()) rest_.halt = Halt::kDiverged;
    if (arrival.halt == Halt::kTraced) continue;
    if (rest_.halt != Halt::kStanding) return {};
    bool opened = false;
    for (const auto& [process, gate] : ahead) {
      if (!is_at(gate) || run_.opened.contains(gate)) continue;
      run_.opened.insert(gate);
      TRY_STATUS(gates_.open(process));
      opened = true;
    }
    bool goes_on = TRY(note_steps(horizons));
    if (opened || goes_on) continue;
    if (!limited_ || !rest_.stops.empty()) return {};
    limits_ = limited_ = false;  // the stop that they are for does not come
  }
}

/// Nobody goes past a step at which he is to stop; who was stopped stays.
void Motion::clamp(replay::Horizons& horizons) {
  for (const replay::Standing& where : run_.live().standing()) {
    auto horizon = horizons.find(where.last.thread());
    bool held = held_.contains(where.last.thread().process());
    if (held && horizon != horizons.end() && horizon->second.step > where.steps)
      horizon->second = {where.steps, where.points};
  }
  if (!gates_.next_stop) return;
  for (auto& [thread, horizon] : horizons) {
    auto stop = gates_.next_stop(thread, run_.steps_done(thread));
    if (stop && *stop < horizon.step) horizon = {*stop, 0};
    if (limits_) keep_within(thread, horizons);
  }
}

void Motion::keep_within(ThreadId thread, replay::Horizons& horizons) {
  replay::Horizon& horizon = horizons[thread];
  for (const Limit& limit : gates_.limits(thread)) {
    ThreadId other = limit.until.thread;
    if (limit.step >= horizon.step || (limit.met && !held_.contains(other.process()))) continue;
    horizon = {limit.step, 0};
    limited_ = true;
    // Who was to come to his last event goes on to his end.
    auto its = horizons.find(other);
    auto stop = gates_.next_stop(other, run_.steps_done(other));
    bool is_free = !limit.met && !held_.contains(other.process()) && (!stop || *stop >= limit.until.step);
    if (is_free && its != horizons.end() && its->second.step + 1 == limit.until.step) its->second = {limit.until.step, 0};
  }
}

Result<bool> Motion::note_steps(const replay::Horizons& horizons) {
  bool goes_on = false;
  if (!gates_.next_stop) return goes_on;
  for (const auto& [thread, horizon] : horizons) {
    if (horizon.step <= began_[thread] || held_.contains(thread.process()) || !is_at({thread, horizon.step})) continue;
    if (gates_.next_stop(thread, horizon.step - 1) != horizon.step) continue;
    if (gates_.stops_at && !TRY(gates_.stops_at(thread, horizon.step))) {
      goes_on = true;
      continue;
    }
    rest_.stops.push_back({{}, thread});
    held_.insert(thread.process());
  }
  return goes_on;
}

bool Motion::is_at(const Gate& gate) const {
  if (run_.tid(gate.thread) == 0 || !run_.in_call(gate.thread)) return false;
  const stage::ThreadSlot& slot = run_.slot(gate.thread);
  return static_cast<stage::WaitKind>(slot.wait_kind) == stage::WaitKind::kHorizon &&
         slot.wait_position == gate.step;
}

/// Those that are held in their program, or in an event, and have nowhere to go.
std::set<ProcessId> Motion::staying(const replay::Horizons& horizons) const {
  std::set<ProcessId> held;
  for (const auto& [process, record] : world_.processes.processes())
    if (run_.frozen(process)) held.insert(process);
  for (const replay::Standing& where : run_.live().standing()) {
    ThreadId thread = where.last.thread();
    auto horizon = horizons.find(thread);
    if (where.ended || horizon == horizons.end()) continue;
    bool further = horizon->second.step > where.steps ||
                   (horizon->second.step == where.steps && horizon->second.point > where.points);
    if (further && !held_.contains(thread.process())) held.erase(thread.process());
  }
  return held;
}

Result<Rest> Motion::to(const Cut& target) {
  TRY_STATUS(run(target));
  return rest_;
}

}  // namespace pastcone::debug

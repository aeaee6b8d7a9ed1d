#include "pastcone/debug/engine.h"

#include <algorithm>
#include <iterator>

#include "pastcone/debug/missed_writes.h"

namespace pastcone::debug {

using replay::Halt;

namespace {

bool takes_register(const Move& move) {
  return move.kind == Move::Kind::kWatch || move.kind == Move::Kind::kAccess;
}

/// A stop may be missing else, and what was counted on the way is not sure.
Status check_seen(Incarnation& run) {
  if (run.tracer().has_missed()) return fail("{}; 'restart' begins again", kMissedWrites);
  return {};
}

}  // namespace

Engine::Engine(const World& world, EngineOptions options) : world_(world), options_(std::move(options)) {}
Engine::~Engine() = default;

Result<Incarnation*> Engine::run() {
  if (!run_) TRY_STATUS(restart());
  return run_.get();
}

void Engine::end() {
  run_.reset();
}

Status Engine::restart() {
  end();  // before the next begins: one at a time
  run_ = TRY(Incarnation::begin(world_, {.show_output = options_.show_output,
                                          .interrupted = options_.interrupted,
                                          .on_wait = options_.on_wait,
                                          .on_output = options_.on_output,
                                          .output_once = options_.show_output ? &shown_ : nullptr}));
  run_->filter = [this](const replay::TraceStop& stop, ThreadId thread, bool inside) {
    bool stops = false, undecided = false;  // all are asked: several may mean the same place
    for (const Observer& observer : observers_) {
      bool asked = observer.hit && (!calling_ || observer.in_calls);
      if (asked && observer.hit(stop, thread, inside)) {
        stops = true;
        if (!observer.in_calls) wanted_[thread] = motions_;
      }
      if (asked && observer.undecided && observer.undecided(stop, thread)) undecided = true;
    }
    if (undecided) undecided_[thread] = {stop.address, stops};
    if (stops && reopened_.erase(thread.process()) != 0) open_again();  // it stays: before it goes on
    return stops || undecided || (!calling_ && reopened_.contains(thread.process()));
  };
  run_->passes = [this](const Arrival& arrival) { return passes(arrival); };
  ++generation_;
  opened_.clear();
  opened_for_.clear();
  reopened_.clear();
  undecided_.clear();
  ++motions_;
  Arrival arrival = run_->run({});
  if (arrival.halt == Halt::kStanding) return {};
  if (arrival.halt == Halt::kInterrupted) return fail("interrupted; nothing has begun: 'continue' and 'run to' go on");
  return fail("the replay does not begin; try 'pastcone replay --verify'");
}

Gates Engine::gates() {
  Gates gates;
  gates.wanted = [this](ProcessId process) {
    return std::ranges::any_of(observers_, [&](const Observer& o) { return o.wants && o.wants(process); });
  };
  gates.open = [this](ProcessId process) {
    auto opened = opened_for_.find(process);  // it may stand at the gate since then
    bool is_new = opened == opened_for_.end() || opened->second != run_->programs_begun(process);
    if (is_new) at_gate_ = process;
    Status status = open(process);
    at_gate_ = ProcessId();
    return status;
  };
  gates.passes = [this](const Arrival& arrival) { return passes(arrival); };
  gates.limits = [this](ThreadId thread) {
    std::vector<Limit> all;
    for (const Observer& observer : observers_)
      if (observer.limits) std::ranges::move(observer.limits(thread), std::back_inserter(all));
    return all;
  };
  gates.next_stop = [this](ThreadId thread, uint64_t step) {
    std::optional<uint64_t> next;
    for (const Observer& observer : observers_) {
      auto stop = observer.next_stop ? observer.next_stop(thread, step) : std::nullopt;
      if (stop && (!next || *stop < *next)) next = stop;
    }
    return next;
  };
  gates.stops_at = [this](ThreadId thread, uint64_t step) { return stops_at(thread, step); };
  return gates;
}

Result<bool> Engine::stops_at(ThreadId thread, uint64_t step) {
  bool stops = false;
  for (const Observer& observer : observers_) {
    if (!observer.next_stop || observer.next_stop(thread, step - 1) != step) continue;
    if (!observer.reached || TRY(observer.reached(thread))) stops = true;
  }
  if (!stops && !opened_.contains(thread.process())) TRY_STATUS(open(thread.process()));
  return stops;
}

Result<bool> Engine::passes(const Arrival& arrival) {
  ProcessId process = arrival.thread.process();
  bool passes = reopened_.erase(process) != 0;
  if (passes) {
    std::erase_if(wanted_, [&](const auto& entry) { return entry.first.process() == process; });
    TRY_STATUS(open(process));
  }
  auto found = undecided_.find(arrival.thread);
  if (found == undecided_.end()) return passes;
  Undecided one = found->second;
  undecided_.erase(found);
  if (one.address != arrival.stop->address) return passes;  // of a stop that was left
  bool stops = one.stops;
  for (const Observer& observer : observers_)
    if (observer.decide && TRY(observer.decide(arrival.thread, one.address))) {
      stops = true;
      wanted_[arrival.thread] = motions_;
    }
  return !stops;
}

Status Engine::open(ProcessId process) {
  TRY_STATUS(run_->freeze(process));
  for (const Observer& observer : observers_)
    if (observer.wants && observer.wants(process) && observer.open) TRY_STATUS(observer.open(process));
  opened_.insert(process);
  opened_for_[process] = run_->programs_begun(process);
  return {};
}

/// Those that have begun already.
Status Engine::open_all() {
  for (const auto& [process, record] : world_.processes.processes()) {
    if (opened_.contains(process) || run_->pid(process) == 0) continue;
    bool wanted = std::ranges::any_of(observers_, [&](const Observer& o) { return o.wants && o.wants(process); });
    bool has_program = record.parent.valid() ||
                       (!record.programs.empty() &&
                        run_->steps_done(ThreadId(process, 1)) >= 2 * record.programs[0].event.index());
    if (!wanted || !has_program) continue;
    TRY_STATUS(open(process));
  }
  return {};
}

bool Engine::will_begin(ProcessId process) {
  const ProcessRecord* record = world_.processes.find(process);
  return record != nullptr && std::ranges::any_of(record->programs, [&](const ProgramRun& program) {
    return run_->steps_done(program.event.thread()) < 2 * program.event.index();
  });
}

Status Engine::go_to(const State& target) {
  TRY(run());
  if (!run_->can_reach(target) || run_->tracer().has_missed()) TRY_STATUS(restart());
  ++motions_;
  for (const auto& [thread, trail] : target.trails) {
    if (run_->pid(thread.process()) == 0 || !std::ranges::any_of(trail, takes_register)) continue;
    for (const Observer& observer : observers_)
      if (observer.close) observer.close(thread.process());
  }
  auto filter = std::exchange(run_->filter, [](const replay::TraceStop&, ThreadId, bool) { return false; });
  Result<Arrival> arrival = run_->go_to(target);
  run_->filter = std::move(filter);
  opened_.clear();
  if (arrival && arrival->halt == Halt::kInterrupted) {
    stand_still();
    return fail("interrupted on the way; this is how far it came");
  }
  TRY(std::move(arrival));
  if (run_->live().diverged()) return fail("the replay diverged on the way; see 'pastcone replay --verify'");
  return check_seen(*run_);
}

Result<Rest> Engine::move(const std::function<Result<Rest>(Motion&)>& how) {
  TRY(run());
  ++motions_;
  reopened_.clear();
  undecided_.clear();
  TRY_STATUS(open_all());
  Motion motion(world_, *run_, gates());
  Result<Rest> rest = how(motion);
  if (rest && rest->halt == Halt::kInterrupted) stand_still();
  if (rest) TRY_STATUS(check_seen(*run_));
  return rest;
}

void Engine::stand_still() {
  for (const auto& [process, record] : world_.processes.processes())
    if (run_->pid(process) != 0 && !run_->frozen(process)) run_->stop_anywhere(process);
}

Result<Rest> Engine::run_to(const causal::Cut& target) {
  TRY(run());
  if (!run_->can_reach({target, {}})) TRY_STATUS(restart());
  return move([&](Motion& motion) { return motion.to(target); });
}

Result<Rest> Engine::run_to(const Goal& goal) {
  TRY(run());
  if (!run_->can_reach({goal.cut, {}})) TRY_STATUS(restart());
  return move([&](Motion& motion) { return motion.to(goal); });
}

/// Of all that stops on the way nothing may be missing when the last stretch needs a register, too. What is
/// only written can be watched by its page.
Status Engine::check_registers(const State& target) const {
  for (const auto& [thread, trail] : target.trails) {
    std::set<WatchedWord> words;
    for (const Observer& observer : observers_)
      if (observer.words) words.merge(observer.words(thread.process()));
    for (const Move& move : trail) {
      bool reads = move.kind == Move::Kind::kAccess;
      if (reads && !words.contains({{move.address, move.size}, reads}) && words.size() >= kMostWords)
        return fail(
            "{} has {} words that are watched, and a debug register has to be free for the way there: "
            "'delete' or 'disable' a watchpoint",
            thread.process(), words.size());
    }
  }
  return {};
}

Result<Rest> Engine::run_to(const State& target) {
  TRY(run());
  TRY_STATUS(check_registers(target));
  if (!run_->can_reach(target)) {
    State passed{here().cut, {}};  // nobody is stopped there again
    TRY_STATUS(restart());
    if (std::ranges::equal(passed.cut, target.cut, std::ranges::less_equal())) TRY_STATUS(go_to(passed));
  }
  Rest rest = TRY(move([&](Motion& motion) { return motion.to(target.cut); }));
  if (rest.halt != Halt::kStanding || !rest.stops.empty()) return rest;
  for (const Arrival& arrival : TRY(run_->follow(target))) {
    if (arrival.halt == Halt::kTraced) {
      rest.stops.push_back({arrival.stop, arrival.thread});
    } else {
      rest.halt = arrival.halt;
    }
  }
  TRY_STATUS(check_seen(*run_));
  return rest;
}

Result<Rest> Engine::advance(ProcessId process) {
  return move([&](Motion& motion) { return motion.advance(process); });
}

Result<Rest> Engine::step(ThreadId thread) {
  stepping_ = true;
  Result<Rest> rest = move([&](Motion& motion) { return motion.step(thread); });
  stepping_ = false;
  if (rest && rest->stops.size() == 1 && rest->stops[0].stop && reopened_.erase(thread.process()) != 0) {
    TRY_STATUS(open(thread.process()));
    auto registers = run_->registers(thread);
    if (rest->stops[0].stop->kind == replay::TraceStop::Kind::kWatch && registers) {
      rest->stops[0].stop->kind = replay::TraceStop::Kind::kStep;
      rest->stops[0].stop->address = registers->rip;
    }
  }
  bool stepped = rest && rest->halt == Halt::kStanding && rest->stops.size() == 1 && rest->stops[0].stop &&
                 rest->stops[0].stop->kind == replay::TraceStop::Kind::kStep;
  if (!stepped) return rest;
  for (const Observer& observer : observers_)
    if (observer.stepped && observer.stepped(thread)) rest->stops[0].stop->kind = replay::TraceStop::Kind::kWatch;
  return rest;
}

Result<bool> Engine::reaches(ThreadId thread, uint64_t address) {
  bool stops = false;
  for (const Observer& observer : observers_)
    if (observer.stepped_onto && TRY(observer.stepped_onto(thread, address))) stops = true;
  if (stops) wanted_[thread] = motions_;
  return stops;
}

bool Engine::is_wanted(ThreadId thread) const {
  auto found = wanted_.find(thread);
  return found != wanted_.end() && found->second == motions_;
}

Result<Rest> Engine::call(ThreadId thread) {
  TRY(run());
  ++motions_;
  calling_ = true;
  Arrival arrival = run_->call(thread);
  calling_ = false;
  Rest rest;
  if (arrival.halt == Halt::kTraced) {
    rest.stops.push_back({arrival.stop, arrival.thread});
  } else {
    rest.halt = arrival.halt;
  }
  return rest;
}

Result<Rest> Engine::everybody() {
  return move([](Motion& motion) { return motion.everybody(); });
}

}  // namespace pastcone::debug

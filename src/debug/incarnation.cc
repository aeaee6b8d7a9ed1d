#include "pastcone/debug/incarnation.h"

#include <algorithm>

#include "pastcone/debug/horizons.h"
#include "pastcone/debug/trail_place.h"
#include "pastcone/graph/steps.h"
#include "pastcone/record/shared_stage.h"

namespace pastcone::debug {
namespace {

using record::load;
using replay::Halt;
using replay::TraceStop;
using stage::ThreadState;
using stage::WaitKind;

bool waits_in_event(WaitKind kind) {
  switch (kind) {
    case WaitKind::kHorizon:
    case WaitKind::kOrder:
    case WaitKind::kJoin:
    case WaitKind::kFutex:
    case WaitKind::kVfork:  // it has been made
      return false;
    default:
      return true;
  }
}

}  // namespace

Result<std::unique_ptr<Incarnation>> Incarnation::begin(const World& world, replay::ReplayOptions options) {
  options.horizons.emplace();
  options.hold = true;
  std::unique_ptr<Incarnation> made(new Incarnation(world));
  made->live_ = TRY(replay::Live::start(world.recording, world.run, options));
  made->tracer().threads_take_turns = !world.recording.manifest().parallel;
  made->tracer().filter = [self = made.get()](const TraceStop& stop) { return self->take_hit(stop); };
  return made;
}

Incarnation::~Incarnation() {
  // Who hits something while all are being ended has nobody to ask.
  if (live_) tracer().filter = [](const TraceStop&) { return false; };
}

// --- who is where ---------------------------------------------------------------------------------------------

const stage::ThreadSlot& Incarnation::slot(ThreadId thread) const {
  stage::View view = live_->stage();
  return view.thread(replay::thread_slot(view, thread));
}

pid_t Incarnation::tid(ThreadId thread) const {
  const stage::ThreadSlot& where = slot(thread);
  auto state = static_cast<ThreadState>(load(where.state));
  if (state == ThreadState::kNone || state == ThreadState::kEnded) return 0;
  if (is_dead(thread.process())) return 0;
  return static_cast<pid_t>(load(where.tid));
}

/// Killed, so that it could not say so.
bool Incarnation::is_dead(ProcessId process) const {
  stage::View view = live_->stage();
  auto first = static_cast<pid_t>(load(view.thread(view.process(process.number()).first_thread).tid));
  return first != 0 && live_->end_of(first).has_value();
}

pid_t Incarnation::pid(ProcessId process) const {
  stage::View view = live_->stage();
  const stage::ProcessSlot& of = view.process(process.number());
  for (uint32_t i = 0; i < of.thread_count; ++i) {
    auto state = static_cast<ThreadState>(load(view.thread(of.first_thread + i).state));
    bool there = state != ThreadState::kNone && state != ThreadState::kEnded;
    if (there) return is_dead(process) ? 0 : static_cast<pid_t>(load(view.thread(of.first_thread).tid));
  }
  return 0;
}

ThreadId Incarnation::thread_of(pid_t tid) const {
  ThreadId ended;
  for (const auto& [thread, stream] : world_.recording.threads()) {
    if (this->tid(thread) == tid) return thread;
    if (static_cast<pid_t>(load(slot(thread).tid)) == tid) ended = thread;
  }
  return ended;
}

uint64_t Incarnation::events_done(ThreadId thread) const {
  return std::max<uint64_t>(load(slot(thread).event), 1) - 1;
}

uint64_t Incarnation::steps_done(ThreadId thread) const {
  const stage::ThreadSlot& where = slot(thread);
  bool parked = in_call(thread) && static_cast<WaitKind>(where.wait_kind) == WaitKind::kHorizon;
  return parked ? where.wait_position : 2 * events_done(thread);
}

bool Incarnation::in_call(ThreadId thread) const {
  return static_cast<ThreadState>(load(slot(thread).state)) == ThreadState::kWaiting;
}

bool Incarnation::in_vfork(ThreadId thread) {
  bool waits = in_call(thread) && static_cast<WaitKind>(slot(thread).wait_kind) == WaitKind::kVfork;
  if (!waits || !freeze(thread.process())) return false;
  return !real_registers(thread);  // who has been let go may be held on its way out
}

size_t Incarnation::programs_begun(ProcessId process) const {
  const ProcessRecord* record = world_.processes.find(process);
  auto begun = [&](const ProgramRun& run) { return events_done(run.event.thread()) >= run.event.index(); };
  return record == nullptr ? 0 : static_cast<size_t>(std::ranges::count_if(record->programs, begun));
}

const ProgramRun* Incarnation::about_to_begin(ProcessId process) const {
  const ProcessRecord* record = world_.processes.find(process);
  if (record == nullptr || pid(process) == 0) return nullptr;
  auto next = std::ranges::find_if(record->programs, [&](const ProgramRun& run) {
    return events_done(run.event.thread()) + 1 == run.event.index();
  });
  return next == record->programs.end() ? nullptr : &*next;
}

bool Incarnation::was_killed(ProcessId process) const {
  const ProcessRecord* record = world_.processes.find(process);
  if (record == nullptr || !is_dead(process)) return false;
  for (const ThreadRecord& thread : record->threads)
    if (steps_done(thread.id) < 2 * thread.events && events_done(thread.id) + 1 < thread.events) return true;
  return false;
}

State Incarnation::present() const {
  std::vector<replay::Standing> all = live_->standing();
  State state;
  std::set<uint32_t> for_turn;  // who wait for it
  for (replay::Standing& where : all) {
    ThreadId thread = where.last.thread();
    // Who waits in an event has come to where it begins; locks come before that.
    auto kind = static_cast<WaitKind>(slot(thread).wait_kind);
    bool waits = in_call(thread) && waits_in_event(kind);
    if (waits && where.steps != UINT64_MAX && where.steps % 2 == 0) {
      ++where.steps;
      auto index = world_.graph.find(thread);
      if (index && kind == WaitKind::kTurn) for_turn.insert(*index);
    }
    auto way = ways_.find(thread);
    Trail trail, first;
    if (auto move = point_move(where)) first.push_back(*move);
    if (where.ended) continue;
    if (in_call(thread)) {
      if (waits || where.point == 0) continue;
    } else if (way != ways_.end() && way->second.since == since(thread)) {
      trail = way->second.now;
      if (trail.empty()) continue;
      if (way->second.first) first = *way->second.first;
    } else {
      continue;
    }
    trail.insert(trail.begin(), first.begin(), first.end());
    if (!trail.empty()) state.trails[thread] = std::move(trail);
  }
  state.cut = steps_of(world_.graph, all);
  if (world_.recording.manifest().parallel) return state;
  // Who gave the turn up behind an event waits for it before it enters another.
  auto is_early = [&](uint32_t index) { return !is_due(world_.graph, {index, state.cut[index]}, state.cut); };
  for (auto early = std::ranges::find_if(for_turn, is_early); early != for_turn.end();
       early = std::ranges::find_if(for_turn, is_early)) {
    --state.cut[*early];
    for_turn.erase(early);
  }
  return state;
}

Incarnation::Since Incarnation::since(ThreadId thread) const {
  return {events_done(thread), load(slot(thread).points)};
}

/// To the last point that it has passed, if that is no step of the graph.
std::optional<Move> Incarnation::point_move(const replay::Standing& where) const {
  auto index = world_.graph.find(where.last.thread());
  if (!index || where.points == 0) return {};
  causal::Node node = graph::find_step(world_.graph, *index, static_cast<uint32_t>(where.steps), where.points);
  if (graph::point_at(world_.graph, node) == where.points) return {};
  return Move{Move::Kind::kPoints, 0, where.points, 0};
}

// --- going on ---------------------------------------------------------------------------------------------------

Arrival Incarnation::run(const replay::Horizons& horizons, const std::set<ProcessId>& staying, bool often) {
  live_->set_horizons(horizons);
  for (const auto& [number, record] : world_.processes.processes()) {
    pid_t id = pid(number);
    bool stands = id != 0 && tracer().traces(id) && tracer().stands(id);
    // One that has come to something while another one's stop was dealt with does not leave it.
    if (stands && !staying.contains(number) && !tracer().has_untold(id)) tracer().go_on(id, held_);
  }
  Arrival arrival;
  do {  // who was asked to stand still, to be looked at, is known to; who ends is at its end
    arrival.halt = live_->run(often);
    if (arrival.halt != Halt::kTraced) return arrival;
    arrival.stop = live_->stop();
  } while (arrival.stop->kind == TraceStop::Kind::kAsked || arrival.stop->kind == TraceStop::Kind::kEnded);
  arrival.thread = thread_of(arrival.stop->thread);
  code_known_.erase(arrival.thread.process());  // it may have mapped files on the way
  bool inner = inner_ && arrival.stop->address == inner_->address;
  if (!inner) arrival.stop = in_program(*arrival.stop);
  if (arrival.thread.valid() && !inner) note_stop(*arrival.stop, arrival.thread);
  return arrival;
}

bool Incarnation::can_reach(const State& target) const {
  State now = present();
  std::set<ProcessId> moving;
  for (uint32_t index = 0; index < now.cut.size(); ++index) {
    bool begun = now.cut[index] > 1;  // nothing comes before entering the first event
    if (begun && now.cut[index] > target.cut[index]) return false;
    if (now.cut[index] < target.cut[index]) moving.insert(world_.graph.thread_id(index).process());
  }
  for (const auto& [thread, trail] : now.trails) {
    uint32_t index = *world_.graph.find(thread);
    if (now.cut[index] < target.cut[index]) continue;
    auto wanted = target.trails.find(thread);
    if (wanted == target.trails.end() || !place_on(wanted->second, trail)) return false;
    if (moving.contains(thread.process())) return false;
  }
  return true;
}

Result<std::vector<Arrival>> Incarnation::follow(const State& target) {
  std::vector<Arrival> stops;
  for (const auto& [thread, trail] : target.trails) {
    Arrival arrival = TRY(walk(thread, trail, true));
    if (arrival.halt != Halt::kStanding) stops.push_back(arrival);
    if (arrival.halt != Halt::kStanding && arrival.halt != Halt::kTraced) break;
  }
  return stops;
}

Result<Arrival> Incarnation::go_to(const State& target) {
  State now = present();
  std::set<ProcessId> staying;
  bool moves = false;
  for (uint32_t index = 0; index < now.cut.size(); ++index) moves = moves || now.cut[index] < target.cut[index];
  for (const auto& [thread, trail] : now.trails) {
    uint32_t index = *world_.graph.find(thread);
    if (now.cut[index] == target.cut[index]) staying.insert(thread.process());
  }
  if (moves) {
    Arrival arrival = run(horizons_of(world_.recording, world_.graph, target.cut), staying);
    if (arrival.halt != Halt::kStanding && arrival.halt != Halt::kEnded) return arrival;
    if (live_->diverged()) {
      arrival.halt = Halt::kDiverged;
      return arrival;
    }
  }
  for (const auto& [thread, trail] : target.trails) {
    Arrival arrival = TRY(walk(thread, trail));
    if (arrival.halt != Halt::kStanding) return arrival;
  }
  return Arrival();
}

/// An instruction does not take long, and nobody else has anything to do with it.
Arrival Incarnation::wait_for_stop() {
  for (;;) {
    auto stop = live_->wait_for_stop();
    if (!stop) return {Halt::kEnded, {}, {}};
    if (stop->kind != TraceStop::Kind::kAsked) return {Halt::kTraced, in_program(*stop), thread_of(stop->thread)};
  }
}

std::set<ProcessId> Incarnation::others_than(ProcessId process) const {
  std::set<ProcessId> others;
  for (const auto& [number, record] : world_.processes.processes())
    if (number != process) others.insert(number);
  return others;
}

// --- standing still -----------------------------------------------------------------------------------------------

bool Incarnation::frozen(ProcessId process) const {
  pid_t id = pid(process);
  return id != 0 && live_->tracer().stands(id);
}

Status Incarnation::freeze(ProcessId process) {
  live_->look_for_ends();
  pid_t id = pid(process);
  if (id == 0 && was_killed(process))
    return fail("{} has been killed, by nobody in the recording; 'restart' begins again", process);
  if (id == 0) return fail("{} does not run now", process);
  if (tracer().stands(id)) return {};
  if (!tracer().traces(id)) {
    code_known_.erase(process);
    return tracer().attach(id);
  }
  code_known_.erase(process);
  tracer().ask_to_stop(id);
  if (!tracer().stands(id)) return fail("{} has ended", process);
  return {};
}

void Incarnation::stop_anywhere(ProcessId process) {
  if (!freeze(process)) return;  // it has just ended
  for (pid_t tid : tracer().threads(pid(process))) {
    ThreadId thread = thread_of(tid);
    if (!thread.valid() || in_call(thread)) continue;
    Way& way = ways_[thread];
    if (way.since != since(thread)) way = {since(thread), {}, {}, {}};
    way.now.push_back({Move::Kind::kLost, 0, 0, 0});
  }
}

bool Incarnation::wait_for(pid_t id) {
  std::vector<TraceStop> others;
  bool there = true;
  while (there) {
    auto stop = live_->wait_for_stop();
    there = stop.has_value();
    if (there && stop->process == id && stop->kind == TraceStop::Kind::kAsked) continue;
    if (there && stop->process == id) {
      there = stop->kind != TraceStop::Kind::kEnded;
      break;
    }
    if (there) others.push_back(*stop);
  }
  for (const TraceStop& stop : others) tracer().give_back(stop);
  return there;
}

Result<user_regs_struct> Incarnation::real_registers(ThreadId thread) {
  pid_t id = tid(thread);
  if (id == 0) return fail("{} does not run now", thread);
  return tracer().registers(id);
}

Result<user_regs_struct> Incarnation::registers(ThreadId thread) {
  user_regs_struct now = TRY(real_registers(thread));
  ProcessId process = thread.process();
  auto program = code(process).registers_of_program(
      now, [&](uint64_t address, void* to, size_t size) { return read(process, address, to, size); });
  return program.value_or(now);
}

bool Incarnation::in_hooked_call(ThreadId thread) {
  auto now = real_registers(thread);
  auto read_here = [&](uint64_t address, void* to, size_t size) { return read(thread.process(), address, to, size); };
  return now && in_runtime(now->rip) && CodeMap::return_address(*now, read_here) == 0;
}

bool Incarnation::read(ProcessId process, uint64_t address, void* to, size_t size) {
  pid_t id = pid(process);
  return id != 0 && tracer().read(id, address, to, size);
}

const CodeMap& Incarnation::code(ProcessId process) {
  CodeMap& code = codes_[process];
  if (code_known_.insert(process).second) code.look(pid(process));
  return code;
}

}  // namespace pastcone::debug

// How an Incarnation's threads come to places within their program: hits of points, trails, and the ways along them.
#include <utility>

#include "pastcone/debug/incarnation.h"
#include "pastcone/debug/trail_place.h"
#include "pastcone/record/shared_stage.h"
#include "pastcone/replay/nth_write.h"

namespace pastcone::debug {
namespace {

using record::load;
using replay::Halt;
using replay::TraceStop;

constexpr uint64_t kManyHits = 200;
constexpr uint64_t kOften = 1000;  // steps between two looks at whether they are wanted

void add_steps(Trail& trail, uint64_t count) {
  if (!trail.empty() && trail.back().kind == Move::Kind::kSteps) {
    trail.back().count += count;
  } else {
    trail.push_back({Move::Kind::kSteps, 0, count, 0});
  }
}

}  // namespace

Incarnation::Point Incarnation::point_of(const TraceStop& stop) {
  if (stop.kind != TraceStop::Kind::kWatch) return {Move::Kind::kBreak, stop.address, 0};
  return {stop.reads ? Move::Kind::kAccess : Move::Kind::kWatch, stop.address, stop.size};
}

bool Incarnation::take_hit(const TraceStop& real) {
  ThreadId thread = thread_of(real.thread);
  if (inner_ && real.kind == TraceStop::Kind::kBreak && real.address == inner_->address)
    return thread == inner_->thread;
  TraceStop stop = in_program(real);
  bool inside = stop.kind == TraceStop::Kind::kWatch && in_runtime(stop.behind);
  if (thread.valid() && !inside) {
    Way& way = ways_[thread];
    if (Since now = since(thread); way.since != now) way = {now, {}, {}, {}};
    ++way.counts[point_of(stop)];
  }
  return filter ? filter(stop, thread, inside) : !inside;
}

void Incarnation::note_stop(const TraceStop& stop, ThreadId thread) {
  Way& way = ways_[thread];
  Since now = since(thread);
  bool same = way.since == now;
  if (!same) way.first.reset();
  switch (stop.kind) {
    case TraceStop::Kind::kBreak:
    case TraceStop::Kind::kWatch: {
      Point point = point_of(stop);
      uint64_t count = same ? way.counts[point] : 1;
      way.now = same ? way.before : Trail();
      way.now.push_back({point.kind, point.size, count, point.address});
      break;
    }
    case TraceStop::Kind::kStep:
      if (!same) way.now.clear();
      add_steps(way.now, 1);
      break;
    default:
      if (!same) way.now.clear();
      if (!in_call(thread)) way.now.push_back({Move::Kind::kLost, 0, 0, 0});
      break;
  }
  way.since = now;
  if (stop.kind == TraceStop::Kind::kStep) begin_trail_here(thread);
}

/// What is counted from now on comes after the moves so far.
void Incarnation::begin_trail_here(ThreadId thread) {
  Way& way = ways_[thread];
  if (way.since != since(thread)) way = {since(thread), {}, {}, {}};
  way.before = way.now;
  way.counts.clear();
}

void Incarnation::begin_trails_here(ProcessId process) {
  for (pid_t tid : tracer().threads(pid(process)))
    if (ThreadId thread = thread_of(tid); thread.valid()) begin_trail_here(thread);  // else it has not begun
}

uint64_t Incarnation::place_of(ProcessId process, uint64_t address) const {
  auto moved = moved_.find(process);
  if (moved == moved_.end()) return address;
  auto found = std::ranges::find(moved->second, address, &Moved::address);
  return found == moved->second.end() ? address : found->place;
}

/// As users see it.
TraceStop Incarnation::in_program(TraceStop stop) const {
  auto moved = moved_.find(thread_of(stop.thread).process());
  if (stop.kind != TraceStop::Kind::kBreak || moved == moved_.end()) return stop;
  auto found = std::ranges::find(moved->second, stop.address, &Moved::place);
  if (found != moved->second.end()) stop.address = found->address;
  return stop;
}

Status Incarnation::add_break(ProcessId process, uint64_t address) {
  TRY_STATUS(set_break(process, address));
  begin_trails_here(process);
  return {};
}

Status Incarnation::set_break(ProcessId process, uint64_t address) {
  auto read_memory = [&](uint64_t from, void* to, size_t size) { return read(process, from, to, size); };
  uint64_t place = code(process).place_of_break(address, read_memory);
  TRY_STATUS(tracer().add_break(pid(process), place));
  std::set<Moved>& moved = moved_[process];
  std::erase_if(moved, [&](const Moved& old) { return old.address == address || old.place == place; });
  if (place != address) moved.insert({address, place});
  return {};
}

void Incarnation::remove_break(ProcessId process, uint64_t address) {
  pid_t id = pid(process);
  if (id != 0 && tracer().traces(id)) tracer().remove_break(id, place_of(process, address));
}

Status Incarnation::add_watch(ProcessId process, uint64_t address, uint32_t size, bool reads) {
  Status added = tracer().add_watch(pid(process), address, size, reads);
  bool guarded = !added && !reads && size <= replay::kLongestGuarded;
  if (guarded) added = tracer().add_guarded(pid(process), address, size);
  TRY_STATUS(std::move(added));
  begin_trails_here(process);
  return {};
}

void Incarnation::remove_watch(ProcessId process, uint64_t address, uint32_t size, bool reads) {
  pid_t id = pid(process);
  if (id == 0 || !tracer().traces(id)) return;
  bool guarded = !reads && tracer().remove_guarded(id, address, size);
  if (!guarded) tracer().remove_watch(id, address, size, reads);
}

/// As far as the program goes to its next event.
replay::Horizon Incarnation::horizon_into_next(ThreadId thread) const {
  return {2 * events_done(thread) + 1, slot(thread).horizon_point};
}

/// Where there are many, the kernel counts writes by itself, if it may. It does not see what the tracer does in the
/// place of an instruction with a breakpoint.
Result<Arrival> Incarnation::walk_to_hit(ThreadId thread, const Move& move, const Filter& stops, bool& there) {
  ProcessId process = thread.process();
  bool reads = move.kind == Move::Kind::kAccess, watches = reads || move.kind == Move::Kind::kWatch;
  uint64_t left = move.count;
  there = false;
  UniqueFd counter;
  bool sees_all = !tracer().guards(pid(process)) && !tracer().has_break(tid(thread), 0, UINT64_MAX);
  if (watches && !reads && move.count >= kManyHits && sees_all)
    counter = replay::stop_at_write(tid(thread), move.address, move.size, left);
  bool counted = tracer().processor_counts = counter.get() >= 0;
  if (counted) {
    left = 1;
  } else {
    TRY_STATUS(watches ? add_watch(process, move.address, move.size, reads) : add_break(process, move.address));
  }
  filter = [&](const TraceStop& stop, ThreadId by, bool inside) {
    bool meant = counted ? stop.address == move.address
                         : point_of(stop) == Point{move.kind, move.address, watches ? move.size : 0};
    bool counts = by == thread && !inside && meant;
    bool last = counts && --left == 0;
    there = there || last;
    return last || (stops && stops(stop, by, inside));
  };
  Result<Arrival> arrival = Arrival();
  for (bool on = true; on;) {
    arrival = run({}, others_than(process));
    if (there || !stops || !passes || arrival->halt != Halt::kTraced) break;
    Filter counting = std::exchange(filter, stops);
    Result<bool> passed = passes(*arrival);
    filter = std::move(counting);
    if (!passed) arrival = tl::unexpected<Error>(passed.error());
    on = passed && *passed;
  }
  filter = {};
  tracer().processor_counts = false;
  if (watches && !counted) remove_watch(process, move.address, move.size, reads);
  if (!watches) remove_break(process, move.address);
  return arrival;
}

Arrival Incarnation::walk_steps(ThreadId thread, uint64_t count) {
  filter = [](const TraceStop&, ThreadId, bool) { return false; };  // others may have points there as well
  Arrival arrival;
  for (uint64_t i = 0; i < count && (i == 0 || arrival.halt == Halt::kTraced); ++i) {
    if (i % kOften == 0 && live_->interrupted()) {
      arrival.halt = Halt::kInterrupted;
      break;
    }
    arrival = step(thread);
  }
  filter = {};
  return arrival;
}

/// From where it is parked, inside what it does up to its next event.
Arrival Incarnation::pass_points(ThreadId thread, uint64_t points) {
  Arrival arrival = run({{thread, {steps_done(thread), points}}}, others_than(thread.process()));
  if (arrival.halt == Halt::kStanding && load(slot(thread).points) != points) arrival.halt = Halt::kFailed;
  return arrival;
}

/// Other threads of the process that stand in their program; in serial mode it has but one that can be there.
std::set<pid_t> Incarnation::in_place(ThreadId besides) const {
  std::set<pid_t> found;
  if (!world_.recording.manifest().parallel) return found;
  for (const auto& [thread, way] : ways_) {
    bool other = thread.process() == besides.process() && thread != besides;
    if (other && tid(thread) != 0 && !in_call(thread) && !way.now.empty() && way.since == since(thread))
      found.insert(tid(thread));
  }
  return found;
}

/// From where it stands, which may be on the trail. `stops`: at the points of others, too, as the filter says.
Result<Arrival> Incarnation::walk(ThreadId thread, const Trail& trail, bool stops) {
  ProcessId process = thread.process();
  State now = present();
  Trail walked = now.trails.contains(thread) ? now.trails[thread] : Trail();
  TrailPlace begin = place_on(trail, walked).value_or(TrailPlace{walked.size(), 0});
  if (begin.moves >= trail.size()) return Arrival();
  std::erase_if(walked, [](const Move& move) { return move.kind == Move::Kind::kPoints; });
  held_ = in_place(thread);
  Filter before = std::exchange(filter, {});
  Result<Arrival> result = Arrival();
  bool known = true;  // where it is: at the end of `walked`
  ways_[thread] = {since(thread), {}, {}, walked};
  for (size_t i = begin.moves; i < trail.size(); ++i) {
    Move move = trail[i];
    bool begun = i == begin.moves && begin.counted > 0;
    if (begun) move.count -= begin.counted;
    if (move.kind == Move::Kind::kLost) break;
    Result<Arrival> arrival = Arrival();
    bool there = true;
    if (move.kind == Move::Kind::kPoints) {
      arrival = pass_points(thread, move.count);
    } else if (Status ready = freeze(process); !ready) {
      arrival = tl::unexpected<Error>(ready.error());
    } else {
      live_->set_horizons({{thread, horizon_into_next(thread)}});
      bool steps = move.kind == Move::Kind::kSteps;
      arrival = steps ? walk_steps(thread, move.count) : walk_to_hit(thread, move, stops ? before : Filter(), there);
    }
    Halt expected = move.kind == Move::Kind::kPoints ? Halt::kStanding : Halt::kTraced;
    bool stopped = !there && arrival && arrival->halt == Halt::kTraced;  // by something else, which run() has noted
    there = there && arrival && arrival->halt == expected &&
            (expected == Halt::kStanding || arrival->thread == thread);
    if (stopped) {
      filter = std::move(before);
      held_.clear();
      return arrival;
    }
    if (!there) {
      result = std::move(arrival);
      known = move.kind != Move::Kind::kSteps;  // step() has noted how many it has made
      if (result && result->halt != Halt::kInterrupted)
        result = fail("{} did not come to the same place again behind event {}", thread, events_done(thread));
      break;
    }
    if (move.kind == Move::Kind::kPoints) {
      ways_[thread] = {since(thread), {}, {}, {}};
    } else {
      if (begun) walked.pop_back();
      walked.push_back(trail[i]);
    }
  }
  filter = std::move(before);
  held_.clear();
  if (result && known) ways_[thread].now = walked;
  if (result) {
    ways_[thread].first.emplace();
    for (const Move& move : trail)
      if (move.kind == Move::Kind::kPoints) ways_[thread].first = Trail{move};
  }
  return result;
}

Arrival Incarnation::step(ThreadId thread) {
  ProcessId process = thread.process();
  auto read_memory = [&](uint64_t address, void* to, size_t size) { return read(process, address, to, size); };
  uint64_t behind_handler = 0;
  for (;;) {
    auto now = real_registers(thread);
    if (!now) return {Halt::kEnded, {}, thread};
    Arrival arrival;
    if (in_runtime(now->rip)) {
      uint64_t behind = std::exchange(behind_handler, 0);
      if (behind == 0) behind = CodeMap::return_address(*now, read_memory);
      if (behind == 0) {  // it was called as a function
        if (auto program = code(process).registers_of_program(*now, read_memory)) behind = program->rip;
      }
      if (behind == 0 || !tracer().add_break(pid(process), behind)) return {Halt::kStanding, {}, thread};
      inner_ = Inner{thread, behind};
      arrival = run({}, others_than(process));
      bool out = arrival.halt == Halt::kTraced && arrival.stop->address == behind;
      inner_.reset();
      if (pid_t id = pid(process); id != 0 && tracer().traces(id)) tracer().remove_break(id, behind);
      if (!out) return arrival;
    } else {
      behind_handler = CodeMap::address_behind_handler(*now, read_memory);
      tracer().step(tid(thread));
      arrival = wait_for_stop();
      if (arrival.halt != Halt::kTraced) return arrival;
    }
    now = real_registers(thread);
    if (!now) return {Halt::kEnded, {}, thread};
    if (!code(process).visible(now->rip) || CodeMap::between_instructions(now->rip, read_memory)) continue;
    TraceStop watched = *arrival.stop;
    arrival.stop->kind = TraceStop::Kind::kStep;
    arrival.stop->address = now->rip;
    arrival.thread = thread;
    note_stop(*arrival.stop, thread);
    if (watched.kind == TraceStop::Kind::kWatch) arrival.stop = watched;  // the step has hit it
    return arrival;
  }
}

Arrival Incarnation::call(ThreadId thread) {
  return run({{thread, horizon_into_next(thread)}}, others_than(thread.process()));
}

}  // namespace pastcone::debug

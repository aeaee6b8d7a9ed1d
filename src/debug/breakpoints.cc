#include "pastcone/debug/breakpoints.h"

#include <algorithm>
#include <tuple>

#include "pastcone/debug/registers.h"
#include "pastcone/graph/messages.h"
#include "pastcone/graph/steps.h"

namespace pastcone::debug {
namespace {

using replay::TraceStop;

bool is_place(const Breakpoint& breakpoint) { return !breakpoint.message && breakpoint.watch.empty(); }

}  // namespace

Breakpoints::Breakpoints(Engine& engine, Images& images) : engine_(engine), images_(images) {
  engine_.observe({
      .wants = [this](ProcessId process) { return has_places(process) || has_left_overs(process); },
      .open = [this](ProcessId process) { return open(process); },
      .hit = [this](const TraceStop& stop, ThreadId thread, bool) { return hit(stop, thread); },
      .undecided = [this](const TraceStop& stop, ThreadId thread) { return is_undecided(stop, thread); },
      .decide = [this](ThreadId thread, uint64_t address) { return decide(thread, address); },
      .next_stop = [this](ThreadId thread, uint64_t step) { return next_message(thread, step); },
      .stepped_onto = [this](ThreadId thread, uint64_t address) { return stepped_onto(thread, address); },
  });
}

bool Breakpoints::has_places(ProcessId process) const {
  return std::ranges::any_of(all_, [&](const auto& entry) {
    return entry.second.enabled && is_place(entry.second) && meant_for(entry.second, process);
  });
}

/// To be taken out: each would still be hit.
bool Breakpoints::has_left_overs(ProcessId process) const {
  auto armed = armed_.find(process);
  return generation_ == engine_.generation() && armed != armed_.end() && !armed->second.empty();
}

/// One that runs the program at some time.
bool Breakpoints::meant_for(const Breakpoint& breakpoint, ProcessId process) const {
  if (breakpoint.process) return *breakpoint.process == process;
  return breakpoint.program.empty() || runs(engine_.world().processes, process, breakpoint.program, true);
}

Result<int> Breakpoints::add(Breakpoint breakpoint) {
  breakpoint.number = last_number_ + 1;
  if (breakpoint.message) {
    find_steps(breakpoint);
    if (steps_[breakpoint.number].empty()) {
      steps_.erase(breakpoint.number);
      return fail("there are no such messages; 'ps' shows the processes, 'show messages' what is under way");
    }
  } else {
    TRY_STATUS(check_location(breakpoint));
  }
  last_number_ = breakpoint.number;
  all_[breakpoint.number] = breakpoint;
  engine_.open_again();
  return breakpoint.number;
}

Status Breakpoints::check_location(const Breakpoint& breakpoint) {
  bool known = false, later = false, any = false;
  std::string reason = "there is no process that it is meant for; 'ps' shows all";
  for (const auto& [process, record] : engine_.world().processes.processes()) {
    if (!meant_for(breakpoint, process)) continue;
    if (engine_.now().pid(process) == 0) {
      later = true;  // it is still to begin; or has ended, and one may go back
      continue;
    }
    any = true;
    later = later || engine_.will_begin(process);
    TRY_STATUS(engine_.now().freeze(process));
    auto sites = images_.find(process, breakpoint.location, breakpoint.condition);
    known = known || sites.has_value();
    if (sites) continue;
    reason = sites.error().message;
    // It is the condition that is wrong, and will be.
    if (!breakpoint.condition.empty() && images_.find(process, breakpoint.location, "")) return fail("{}", reason);
  }
  if (known || breakpoint.pending) return {};
  if ((any || later) && TRY(images_.files().have_location(breakpoint.location, later))) return {};
  if (!any && later) {
    return fail("no program or library of the recording has {}; 'set breakpoint pending on' does without one",
                breakpoint.location);
  }
  return fail("{}", reason);
}

Status Breakpoints::set_condition(int number, const std::string& condition) {
  Breakpoint* breakpoint = TRY(find(number));
  if (breakpoint->message) return fail("breakpoint {} is at messages, which have no condition", number);
  Breakpoint changed = *breakpoint;
  changed.condition = condition;
  if (is_place(changed)) TRY_STATUS(check_location(changed));
  *breakpoint = std::move(changed);
  engine_.open_again();
  return {};
}

std::vector<Site> Breakpoints::sites_of(const Breakpoint& breakpoint) {
  std::map<uint64_t, Site> sites;
  bool any = false;
  for (const auto& [process, record] : engine_.world().processes.processes()) {
    if (!is_place(breakpoint) || !meant_for(breakpoint, process) || engine_.now().pid(process) == 0) continue;
    any = true;
    if (!engine_.now().freeze(process)) continue;
    auto found = images_.find(process, breakpoint.location, breakpoint.condition);
    if (!found) continue;
    for (const Site& site : *found) sites[site.address] = site;
  }
  std::vector<Site> all;
  for (auto& [address, site] : sites) all.push_back(std::move(site));
  if (!all.empty()) last_sites_[breakpoint.number] = all;
  return any ? all : last_sites_[breakpoint.number];
}

void Breakpoints::add_watch(Breakpoint watch) {
  last_number_ = std::max(last_number_, watch.number);
  all_[watch.number] = std::move(watch);
}

Status Breakpoints::remove(int number) {
  TRY(find(number));
  all_.erase(number);
  last_sites_.erase(number);
  steps_.erase(number);
  engine_.open_again();
  return {};
}

Result<Breakpoint*> Breakpoints::find(int number) {
  auto found = all_.find(number);
  if (found == all_.end()) return fail("No breakpoint number {}.", number);
  return &found->second;
}

Status Breakpoints::open(ProcessId process) {
  Incarnation& run = engine_.now();
  if (std::exchange(generation_, engine_.generation()) != engine_.generation()) {
    armed_.clear();
    loading_.clear();
  }
  auto& armed = armed_[process];
  if (!engine_.is_new_program(process)) {
    for (const auto& [address, old] : armed) run.remove_break(process, address);
    if (auto loading = loading_.find(process); loading != loading_.end())
      run.remove_break(process, loading->second.address);
  }
  armed.clear();
  loading_.erase(process);
  for (const auto& [number, breakpoint] : all_) {
    if (!breakpoint.enabled || !is_place(breakpoint) || !meant_for(breakpoint, process)) continue;
    auto sites = images_.find(process, breakpoint.location, breakpoint.condition);
    if (!sites) {
      remark_condition(breakpoint, process, sites.error().message);
      continue;
    }
    last_sites_[number] = *sites;
    for (const Site& site : *sites) {
      if (!run.add_break(process, site.address)) continue;  // it is not mapped yet
      armed.insert({site.address, {number, site}});
    }
  }
  if (has_places(process)) watch_loading(process);
  return {};
}

/// Names may mean something else, or at last something, when a library has been loaded.
void Breakpoints::watch_loading(ProcessId process) {
  auto loader = images_.loader(process);
  if (loader && engine_.now().add_break(process, loader->notice()))
    loading_[process] = {loader->notice(), images_.libraries(process)};
}

/// As gdb says it. What is not there at all may still come.
void Breakpoints::remark_condition(const Breakpoint& breakpoint, ProcessId process, const std::string& why) {
  if (breakpoint.condition.empty() || !images_.find(process, breakpoint.location, "")) return;
  remark(breakpoint.number, fmt::format("Error in re-setting breakpoint {}: {}", breakpoint.number, why));
}

void Breakpoints::remark(int number, const std::string& text) {
  if (remarked_.insert({number, text}).second) remarks_.push_back(text);
}

const Breakpoint* Breakpoints::live(int number, ThreadId thread) const {
  auto found = all_.find(number);
  bool may = found != all_.end() && found->second.enabled &&
             (found->second.thread == 0 || found->second.thread == thread.number());
  return may ? &found->second : nullptr;
}

bool Breakpoints::hit(const TraceStop& stop, ThreadId thread) {
  if (stop.kind != TraceStop::Kind::kBreak) return false;
  ProcessId process = thread.process();
  if (has_loaded(process, stop.address)) engine_.open_when_standing(process);
  Hits hits{engine_.motions(), {}, {}};
  auto [begin, end] = armed_[process].equal_range(stop.address);
  for (auto point = begin; point != end; ++point) {
    int number = point->second.number;
    if (live(number, thread) == nullptr || !point->second.site.asked.empty()) continue;
    std::optional<bool> held = holds(point->second.site, stop, thread);
    if (held.value_or(true) && count(number)) hits.add(number, held.has_value());
  }
  return !(hits_[thread] = std::move(hits)).numbers.empty();
}

/// At this address a process tells that it has.
bool Breakpoints::has_loaded(ProcessId process, uint64_t address) {
  auto loading = loading_.find(process);
  if (loading == loading_.end() || loading->second.address != address) return false;
  std::string libraries = images_.libraries(process);
  if (libraries.empty() || libraries == loading->second.libraries) return false;
  images_.seats().look_anew(process);
  return true;
}

/// It has been hit. Whether that is a stop.
bool Breakpoints::count(int number) {
  Breakpoint& breakpoint = all_.at(number);
  ++breakpoint.hits;
  if (breakpoint.ignored == 0) return true;
  --breakpoint.ignored;
  return false;
}

bool Breakpoints::is_undecided(const TraceStop& stop, ThreadId thread) const {
  auto armed = armed_.find(thread.process());
  if (stop.kind != TraceStop::Kind::kBreak || armed == armed_.end()) return false;
  auto [begin, end] = armed->second.equal_range(stop.address);
  return std::any_of(begin, end, [](const auto& point) { return !point.second.site.asked.empty(); });
}

/// Those that the process had to stand for. Whether one is a stop.
Result<bool> Breakpoints::decide(ThreadId thread, uint64_t address) {
  bool stops = false;
  std::vector<Armed> points;
  auto [begin, end] = armed_[thread.process()].equal_range(address);
  for (auto point = begin; point != end; ++point) points.push_back(point->second);
  for (const Armed& point : points) {
    if (live(point.number, thread) == nullptr || point.site.asked.empty()) continue;
    Seats& seats = images_.seats();
    Seats::Reply reply = TRY(point.site.condition ? seats.evaluate(thread, *point.site.condition)
                                                  : seats.ask(thread, point.site.asked));
    if (!reply.error.empty())
      return fail("the condition of breakpoint {} cannot be tested: {}", point.number, reply.error);
    bool holds = reply.holds || !reply.known;
    if (!holds || !count(point.number)) continue;
    stops = true;
    Hits& hits = hits_[thread];
    if (hits.motion != engine_.motions()) hits = {engine_.motions(), {}, {}};
    hits.add(point.number, reply.known);
  }
  return stops;
}

Result<bool> Breakpoints::stepped_onto(ThreadId thread, uint64_t address) {
  if (has_loaded(thread.process(), address)) engine_.open_again();
  auto armed = armed_.find(thread.process());
  if (armed == armed_.end() || !armed->second.contains(address)) return false;
  TraceStop stop{};
  stop.kind = TraceStop::Kind::kBreak;
  stop.process = engine_.now().pid(thread.process());
  stop.thread = engine_.now().tid(thread);
  stop.address = address;
  bool stops = hit(stop, thread);
  return (is_undecided(stop, thread) && TRY(decide(thread, address))) || stops;
}

/// Nothing: it has no value here. As in gdb, that is a stop.
std::optional<bool> Breakpoints::holds(const Site& site, const TraceStop& stop, ThreadId thread) {
  if (!site.condition) return true;
  auto registers = engine_.now().tracer().registers(stop.thread);
  if (!registers) return {};
  auto value = site.condition->evaluate(
      [&](uint64_t address, void* to, size_t size) {
        return engine_.now().read(thread.process(), address, to, size);
      },
      [&](int number) { return register_of(*registers, number); });
  return value ? std::optional(value->value != 0) : std::nullopt;
}

bool Breakpoints::is_untested(int number, ThreadId thread) const {
  auto found = hits_.find(thread);
  return found != hits_.end() && found->second.motion == engine_.motions() && found->second.untested.contains(number);
}

std::vector<int> Breakpoints::hit_by(ThreadId thread) const {
  auto found = hits_.find(thread);
  bool now = found != hits_.end() && found->second.motion == engine_.motions();
  return now ? found->second.numbers : std::vector<int>();
}

std::map<int, std::pair<uint64_t, uint64_t>> Breakpoints::counts() const {
  std::map<int, std::pair<uint64_t, uint64_t>> counts;
  for (const auto& [number, breakpoint] : all_) counts[number] = {breakpoint.hits, breakpoint.ignored};
  return counts;
}

void Breakpoints::set_counts(const std::map<int, std::pair<uint64_t, uint64_t>>& counts) {
  for (const auto& [number, count] : counts)
    if (auto found = all_.find(number); found != all_.end())
      std::tie(found->second.hits, found->second.ignored) = count;
}

void Breakpoints::forget_hits() {
  for (auto& [number, breakpoint] : all_) breakpoint.hits = 0;
}

// --- messages ---------------------------------------------------------------------------------------------------

void Breakpoints::find_steps(const Breakpoint& breakpoint) {
  const causal::Graph& graph = engine_.world().graph;
  const MessagePoint& point = *breakpoint.message;
  auto& steps = steps_[breakpoint.number];
  auto is = [&](ProcessId wanted, const causal::Transfer* transfer) {
    if (!wanted.valid()) return true;
    return transfer != nullptr && graph.threads[transfer->at.thread].process == wanted.number();
  };
  graph::Messages messages(graph);
  while (auto message = messages.next()) {
    const causal::Transfer* send = message->send == causal::kNone ? nullptr : &graph.sends[message->send];
    const causal::Transfer* receive =
        message->receive == causal::kNone ? nullptr : &graph.receives[message->receive];
    const causal::Transfer* at = point.receive ? receive : send;
    if (at == nullptr || !is(point.from, send) || !is(point.to, receive)) continue;
    steps[graph.thread_id(at->at.thread)].insert(graph::plain_step(graph, at->at));
  }
}

std::optional<uint64_t> Breakpoints::next_message(ThreadId thread, uint64_t step) const {
  std::optional<uint64_t> next;
  for (const auto& [number, threads] : steps_) {
    auto breakpoint = all_.find(number);
    auto found = threads.find(thread);
    if (breakpoint == all_.end() || !breakpoint->second.enabled || found == threads.end()) continue;
    auto behind = found->second.upper_bound(step);
    if (behind != found->second.end() && (!next || *behind < *next)) next = *behind;
  }
  return next;
}

std::vector<int> Breakpoints::messages_at(ThreadId thread) const {
  std::vector<int> numbers;
  for (const auto& [number, threads] : steps_) {
    auto found = threads.find(thread);
    if (found != threads.end() && found->second.contains(engine_.now().steps_done(thread)))
      numbers.push_back(number);
  }
  return numbers;
}

}  // namespace pastcone::debug

// Commands of `pastcone debug` about global predicates.
#include "pastcone/cli/debug_predicates.h"

#include <algorithm>
#include <set>

#include "pastcone/cli/debug_arguments.h"
#include "pastcone/cli/debug_completion.h"
#include "pastcone/cli/debug_session.h"
#include "pastcone/cli/text.h"
#include "pastcone/gdb/translate.h"
#include "pastcone/graph/steps.h"

namespace pastcone::cli {
namespace {

using debug::SimplePredicate;

constexpr size_t kMostTraced = 100'000;

bool within(const debug::State& state, const debug::State& of) {
  for (size_t i = 0; i < state.cut.size(); ++i)
    if (state.cut[i] > of.cut[i]) return false;
  return true;
}

}  // namespace

void DebugSession::bind_predicates(shell::Commands& commands) {
  shell::Completer predicates = predicate_completer(completion_by(*engine_, *seats_, focus_), process_names());
  commands.bind("stop if", [this](std::string_view text) -> Status {
    debug::Predicate predicate = TRY(debug::parse_predicate(text));
    return add_predicate(predicate, {});
  }, predicates);
  commands.bind("trace", [this](std::string_view text) -> Status {
    debug::TraceCommand trace = TRY(debug::parse_trace(text));
    return add_predicate(trace.condition, trace.values);
  }, predicates);
  commands.bind("switch", [this](std::string_view text) -> Status {
    if (text.empty()) return fail("to which one? for example: switch 2; 'info predicates' lists them");
    size_t number = TRY(parse_count(text, "switch 2; 'info predicates' lists them"));
    auto found = std::ranges::find_if(predicates_, [&](const auto& entry) { return std::cmp_equal(entry.first, number); });
    if (found == predicates_.end()) return fail("there is no predicate {}; 'info predicates' lists them", number);
    if (found->second.traces()) return fail("{} is a trace; it never stops", number);
    primary_ = found->first;
    return {};
  });
  commands.bind("info predicates", without_argument("info predicates", [this] { return list_predicates(); }));
}

Status DebugSession::add_predicate(const debug::Predicate& given, std::vector<debug::TracedValue> values) {
  SetPredicate set;
  set.predicate = TRY(debug::with_processes(given, [this](const debug::Who& who) { return find_processes(who); }));
  set.plan = TRY(debug::plan(world_, set.predicate));
  for (debug::TracedValue& value : values) TRY_STATUS(find_traced(value));
  set.values = std::move(values);
  set.text = debug::to_string(given);
  for (const debug::Part& part : set.plan.parts) TRY_STATUS(check(part));
  int number = breakpoints_->take_number();
  bool stops = !set.traces();
  fmt::print("{} {}: {}\n", stops ? "Predicate" : "Trace", number, set.text);
  predicates_[number] = std::move(set);
  if (stops && primary_ == 0) primary_ = number;
  return {};
}

std::vector<ProcessId> DebugSession::find_processes(const debug::Who& who) const {
  std::vector<ProcessId> found;
  for (const auto& [id, process] : world_.processes.processes()) {
    bool meant = who.kind == debug::Who::Kind::kPid ? process.pid == who.pid
                                                    : debug::runs(world_.processes, id, who.name, false);
    if (meant) found.push_back(id);
  }
  return found;
}

/// What `set $n = 1` has set is known to the gdbs that show processes, and not to those that look for states.
static Status check_variables(const SimplePredicate& term) {
  static const std::set<std::string_view> kRegisters = {
      "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip",
      "eflags", "pc", "sp", "fp", "ps", "cs", "ss", "ds", "es", "fs", "gs", "fs_base", "gs_base",
      "eax", "ebx", "ecx", "edx", "esi", "edi", "ebp", "esp", "ax", "bx", "cx", "dx", "al", "bl", "cl", "dl", "ah", "bh", "ch", "dh",
      "_streq", "_strlen", "_memeq", "_regex"};
  for (const gdb::Token& token : gdb::tokens_of(term.expression)) {
    bool variable = token.kind == gdb::Token::Kind::kName && token.text.starts_with('$');
    std::string_view name = std::string_view(token.text).substr(variable ? 1 : 0);
    bool wide = name.starts_with("xmm") || name.starts_with("ymm") || name.starts_with("st") ||
                (name.starts_with('r') && name.size() > 1 && name[1] >= '0' && name[1] <= '9');
    if (variable && !wide && !kRegisters.contains(name))
      return fail("{}: a condition of several processes knows no {}; write its value (or use `break … if`)",
                  debug::to_string(term), token.text);
  }
  return {};
}

/// What can be known before anything runs.
Status DebugSession::check(const debug::Part& part) const {
  if (world_.processes.find(part.process) == nullptr)
    return fail("there is no {} in the recording; 'ps' shows all", part.process);
  for (const SimplePredicate& term : part.terms) {
    TRY_STATUS(check_variables(term));
    std::string location = debug::location_of(term);
    if (location.empty() && !term.at) {
      if (Status good = images_->files().check_expression(part.process, term.expression); !good)
        return fail("{}: {}", debug::to_string(term), good.error().message);
    } else if (!location.empty() && !TRY(images_->files().have_location(location, true))) {
      return fail("{}: no program or library of the recording has {}", debug::to_string(term), location);
    }
  }
  return {};
}

Status DebugSession::list_predicates() const {
  if (predicates_.empty()) {
    fmt::print("No predicates.\n");
    return {};
  }
  for (const auto& [number, set] : predicates_) {
    fmt::print("{} {:<3} {} {}, held {}{}\n", number == primary_ ? "*" : " ", number,
               set.traces() ? "trace if" : "stop if", set.text, plural(set.held, "time", "times"),
               set.enabled ? "" : ", disabled");
  }
  return {};
}

bool DebugSession::remove_predicate(int number) {
  if (predicates_.erase(number) == 0) return false;
  if (primary_ != number) return true;
  primary_ = 0;
  for (const auto& [other, set] : predicates_)
    if (!set.traces() && primary_ == 0) primary_ = other;
  return true;
}

Status DebugSession::advance_to_predicates() {
  std::vector<HeldState> stops, traces;
  debug::State origin = engine_->here();
  if (origin.is_lost())
    fmt::print("where exactly it was interrupted is not known: this begins at the last place before that is\n");
  std::vector<std::string> never;
  for (const auto& [number, set] : predicates_) {
    if (!set.enabled) continue;
    std::string text;
    auto found = [&] {
      auto waits = wait_for("looking for " + set.text);
      return find_held(number, origin, set.traces() ? kMostTraced : SIZE_MAX, text);
    }();
    if (!found) {
      hear();
      TRY_STATUS(return_to(origin));
      return tl::unexpected<Error>(found.error());
    }
    if (found->empty()) never.push_back(text);
    auto& into = set.traces() ? traces : stops;
    for (HeldState& held : *found) into.push_back(std::move(held));
  }
  std::optional<HeldState> target = choose_stop(stops);
  std::erase_if(traces, [&](const HeldState& held) { return target && !within(held.state, target->state); });
  if (!traces.empty() && !breakpoints_->all().empty()) TRY_STATUS(drop_behind_stop(traces, origin, target));
  TRY_STATUS(return_to(origin));
  for (const HeldState& held : traces) {
    {
      auto waits = wait_for("going to the next " + predicates_.at(held.number).text, held.state.cut);
      TRY_STATUS(engine_->go_to(held.state));
    }
    TRY_STATUS(print_traced(held));
  }
  for (const std::string& text : never) fmt::print("{}\n", text);
  if (!traces.empty()) TRY_STATUS(return_to(origin));  // breakpoints on the way have not been looked at
  TRY_STATUS(target ? stop_at(*target, stops) : report(run_to_held(target), focus_));
  for (auto& [number, set] : predicates_)
    if (set.traces() && set.enabled && engine_->has_run()) set.note(engine_->here());
  return {};
}

bool DebugSession::seeks_predicates() const {
  return std::ranges::any_of(predicates_, [](const auto& entry) { return entry.second.enabled; });
}

Status DebugSession::return_to(const debug::State& state) {
  auto waits = wait_for("going back to " + place_in(state.cut, focus_), state.cut);
  return engine_->go_to(state);
}

Result<debug::Rest> DebugSession::run_to_held(const std::optional<HeldState>& target) {
  if (!target) return run_on([this] { return engine_->everybody(); });
  auto waits = wait_for("running to where " + predicates_.at(target->number).text, target->state.cut);
  ends_->ignored = true;
  Result<debug::Rest> rest = engine_->run_to(target->state);
  ends_->ignored = false;
  return rest;
}

/// How many of them, which are one behind the other, come before what stops a run to them.
Result<size_t> DebugSession::count_unstopped(const std::vector<HeldState>& traces, const debug::State& origin) {
  size_t begin = 0, end = traces.size();
  while (begin < end) {
    size_t middle = begin + (end - begin) / 2;
    TRY_STATUS(engine_->go_to(origin));
    debug::Rest rest = TRY(engine_->run_to(traces[middle].state));
    if (rest.halt == replay::Halt::kInterrupted) return fail("interrupted");
    if (rest.halt == replay::Halt::kStanding && rest.stops.empty()) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

/// What is traced behind a breakpoint on the way is told when one has gone on from there.
Status DebugSession::keep_unstopped(std::vector<HeldState>& traces, const debug::State& origin,
                                    const std::optional<HeldState>& target) {
  TRY_STATUS(engine_->go_to(origin));
  debug::Rest rest = TRY(run_to_held(target));
  if (rest.halt == replay::Halt::kInterrupted) return fail("interrupted");
  debug::State last{engine_->here().cut, {}};
  std::erase_if(traces, [&](const HeldState& held) { return !within(held.state, last); });
  if (!rest.stops.empty()) traces.resize(TRY(count_unstopped(traces, origin)));
  return {};
}

/// The same by runs that nobody sees, and that do not count.
Status DebugSession::drop_behind_stop(std::vector<HeldState>& traces, const debug::State& origin,
                                      const std::optional<HeldState>& target) {
  auto counts = breakpoints_->counts();
  engine_->end();
  engine_->show_output(false);
  Status done = [&] {
    auto waits = wait_for("running");
    return keep_unstopped(traces, origin, target);
  }();
  engine_->end();
  engine_->show_output(true);
  breakpoints_->set_counts(counts);
  if (done) return {};
  hear();
  TRY_STATUS(return_to(origin));
  return done;
}

/// The primary one's, if it has one.
std::optional<HeldState> DebugSession::choose_stop(const std::vector<HeldState>& stops) const {
  for (const HeldState& held : stops)
    if (held.number == primary_) return held;
  if (stops.empty()) return {};
  return *std::ranges::min_element(stops, {}, [](const HeldState& held) { return size_of(held.state); });
}

Status DebugSession::stop_at(const HeldState& target, const std::vector<HeldState>& stops) {
  // Breakpoints on the way come first. Bad ends do not: it is this state that was asked for, and half of what shells
  // run has one.
  std::vector<std::string> before = ends_->within(engine_->here().cut);
  debug::Rest rest = TRY(run_to_held(target));
  if (rest.halt != replay::Halt::kStanding || !rest.stops.empty()) return report(rest, focus_);
  SetPredicate& set = predicates_.at(target.number);
  ++set.held;
  set.note(engine_->here());
  states_.clear();
  for (const HeldState& held : stops)
    if (held.number == target.number) states_.push_back(held);
  fmt::print("Predicate {}: {}\n", target.number, set.text);
  for (const std::string& text : ends_->within(target.state.cut))
    if (std::ranges::find(before, text) == before.end()) fmt::print("on the way: {}\n", text);
  for (const HeldState& held : stops) {
    if (held.number == target.number || !within(held.state, target.state)) continue;
    fmt::print("predicate {} has held on the way: {}; 'switch {}' and 'restart' to stop there\n", held.number,
               predicates_.at(held.number).text, held.number);
  }
  if (states_.size() > 1) {
    fmt::print("it holds first in {} states, none before another; this is the first of them\n", states_.size());
    for (size_t i = 0; i < states_.size(); ++i) fmt::print("  run to state {}: {}\n", i + 1, held_text(states_[i]));
  }
  focus_ = target.focus;
  visit();
  for (ThreadId thread : target.threads) {
    symbols::Location at = whereabouts_->locate(thread);
    fmt::print("  {:<10} {}\n", event_text(thread), symbols::place_text(at));
  }
  return show_place(focus_, "");
}

std::string DebugSession::held_text(const HeldState& held) const {
  std::string text;
  for (ThreadId thread : held.threads) {
    auto index = world_.graph.find(thread);
    if (!index) continue;
    if (!text.empty()) text += ", ";
    text += to_string(EventId(thread, graph::event_at(world_.graph, {*index, held.state.cut[*index]})));
  }
  return text;
}

Status DebugSession::run_to_state(std::string_view text) {
  constexpr std::string_view kExample = "run to state 2, where a predicate holds first in several states";
  if (text.empty()) return fail("to which one? for example: {}", kExample);
  size_t number = TRY(parse_count(text, kExample));
  if (number == 0 || number > states_.size())
    return fail("there is no state {}; the last predicate that held has {}", number, states_.size());
  const HeldState& held = states_[number - 1];
  return go_to(held.state, held.focus);
}

}  // namespace pastcone::cli

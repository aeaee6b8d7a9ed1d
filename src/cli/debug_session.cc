#include "pastcone/cli/debug_session.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>

#include "pastcone/causal/cone.h"
#include "pastcone/cli/debug_help.h"
#include "pastcone/cli/debug_refused.h"
#include "pastcone/debug/door.h"
#include "pastcone/gdb/translate.h"
#include "pastcone/graph/names.h"
#include "pastcone/graph/steps.h"
#include "pastcone/shell/help.h"

namespace pastcone::cli {

Result<std::unique_ptr<DebugSession>> DebugSession::begin(const Recording& recording,
                                                          const causal::Graph& graph,
                                                          shell::Interrupt& interrupt) {
  debug::World world{recording, graph, ProcessTable::read(recording), TRY(replay::Live::summarise(recording))};
  std::unique_ptr<DebugSession> session(new DebugSession(std::move(world), interrupt));
  debug::EngineOptions options;
  options.interrupted = [&interrupt, &heard = session->heard_, &waiting = session->waiting_] {
    waiting.tick();
    return interrupt.pending() && interrupt.count() != heard;
  };
  options.on_wait = [&waiting = session->waiting_](const replay::Live& live) {
    waiting.tick([&] { return WaitingLine::Far{live.events_done(), live.summary().events}; });
  };
  options.on_output = [&waiting = session->waiting_](std::string_view text) { waiting.make_room(text); };
  session->engine_ = std::make_unique<debug::Engine>(session->world_, options);
  debug::sweep_doors();
  session->seats_ = TRY(debug::Seats::create(*session->engine_));
  session->askers_ = TRY(debug::Seats::create(*session->engine_));
  session->seats_->share_variables_with(*session->askers_);  // conditions may name them
  session->images_ = std::make_unique<debug::Images>(*session->engine_, *session->askers_);
  session->breakpoints_ = std::make_unique<debug::Breakpoints>(*session->engine_, *session->images_);
  session->watches_ = std::make_unique<debug::Watches>(*session->engine_, *session->breakpoints_);
  session->whereabouts_ = std::make_unique<debug::Whereabouts>(*session->engine_);
  session->ends_ = std::make_unique<debug::Ends>(*session->engine_);
  TRY_STATUS(session->engine_->restart());
  TRY_STATUS(session->to_first_program());
  session->visit();
  return session;
}

/// Behind what executes it: before that there is nothing to be seen.
Status DebugSession::to_first_program() {
  const ProcessRecord* first = world_.processes.find(ProcessId(1));
  if (first == nullptr || first->programs.empty()) return {};
  causal::Node node = TRY(graph::find_event(world_.graph, first->programs[0].event));
  return engine_->go_to({causal::past_cone(world_.graph, node, causal::Order::kEnforced), {}});
}

std::string DebugSession::place_in(const causal::Cut& cut, ThreadId thread) const {
  auto index = world_.graph.find(thread);
  uint64_t event = index && *index < cut.size() ? graph::event_at(world_.graph, {*index, cut[*index]}) : 0;
  return to_string(EventId(thread, event));
}

uint64_t DebugSession::events_in(const causal::Cut& cut) const {
  uint64_t events = 0;
  for (uint32_t index = 0; index < cut.size() && index < world_.graph.real_threads; ++index)
    events += graph::event_at(world_.graph, {index, cut[index]});
  return events;
}

WaitingLine::Scope DebugSession::wait_for(std::string what, const causal::Cut& to) {
  return {waiting_, std::move(what), events_in(to)};
}

WaitingLine::Scope DebugSession::wait_for(std::string what) { return {waiting_, std::move(what)}; }

void DebugSession::hear() { heard_ = interrupt_.count(); }

void DebugSession::show_remark() {
  if (std::string remark = seats_->take_remark(); !remark.empty()) fmt::print(stderr, "{}\n", remark);
}

void DebugSession::show_remarks() {
  for (const std::string& remark : breakpoints_->take_remarks()) fmt::print(stderr, "{}\n", remark);
}

std::string DebugSession::prompt() const { return fmt::format("({}) ", event_text(focus_)); }

std::string DebugSession::event_text(ThreadId thread) const {
  if (!engine_->has_run()) return to_string(EventId(thread, 0));
  return to_string(EventId(thread, engine_->now().events_done(thread)));
}

void DebugSession::bind(shell::Commands& commands) {
  add_debug_texts(commands);
  shell::add_help(commands);
  bind_running(commands);
  bind_stopping(commands);
  bind_points(commands);
  bind_threads(commands);
  bind_places(commands);
  bind_state(commands);
  bind_causal(commands);
  bind_predicates(commands);
  bind_blocks(commands);
  commands.set_guard([this]() -> Status {
    waiting_.begin();
    if (!engine_->has_run()) TRY_STATUS(restart());  // there was no room for it, say
    return {};
  });
  commands.set_fallback([this](std::string_view line) -> Result<bool> {
    TRY_STATUS(hand_to_gdb(line));
    return true;
  });
  commands.set_fallback_completer([this](std::string_view line) -> std::vector<std::string> {
    if (!engine_->has_run()) return {};
    auto gdb = seats_->look_at(focus_);
    if (!gdb) return {};
    auto found = (*gdb)->complete(std::string(line));
    return found ? *found : std::vector<std::string>();
  });
}

Result<std::string> DebugSession::ask_gdb(const std::string& command) {
  gdb::Answer answer = TRY(seats_->console(focus_, command));
  if (!answer.good) return fail("{}", answer.error);
  return answer.console;
}

/// Whether a '(' behind it calls: "f", "table[3]", "(*pointer)"; not a cast, "(int)".
static bool is_called(std::string_view before) {
  if (before.empty()) return false;
  char last = before.back();
  if (last != ')') return last == ']' || last == '_' || std::isalnum(static_cast<unsigned char>(last));
  int depth = 0;
  for (size_t at = before.size(); at-- > 0;) {
    if (before[at] == ')') ++depth;
    if (before[at] == '(' && --depth == 0) return shell::trim(before.substr(at + 1)).starts_with('*');
  }
  return false;
}

/// A command that shows values.
static bool shows(std::string_view line) {
  constexpr std::string_view kShowing[] = {"print", "inspect", "call", "output", "printf", "display", "x"};
  std::string_view word = line.substr(0, line.find_first_of(" \t/"));
  return std::ranges::find(kShowing, word) != std::end(kShowing);
}

/// Whether a command shows what is in memory, and not only what was computed before or is a number.
static bool shows_memory(std::string_view line) {
  if (!shows(line)) return false;
  if (line.starts_with('x')) return true;
  size_t names = 0;
  for (const gdb::Token& token : gdb::tokens_of(std::string(line)))
    if (token.kind == gdb::Token::Kind::kName && !token.text.starts_with('$')) ++names;
  return names > 1;  // the command is one
}

bool DebugSession::calls_in_event(std::string_view line) {
  bool calls = false;
  for (size_t at = line.find('('); at != std::string_view::npos; at = line.find('(', at + 1))
    calls = calls || is_called(line.substr(0, at));
  return calls && shows(line) && stands_in_event(focus_);
}

bool DebugSession::stands_in_event(ThreadId thread) {
  if (engine_->now().tid(thread) == 0 || !engine_->now().freeze(thread.process())) return false;
  auto real = engine_->now().real_registers(thread), seen = engine_->now().registers(thread);
  return real && seen && real->rip != seen->rip;
}

Status DebugSession::hand_to_gdb(std::string_view line, const shell::Lines& body) {
  if (auto reason = why_refused(line)) return fail("{}", *reason);
  debug::State before = engine_->here();
  if (body.empty() && calls_in_event(line)) {
    auto waits = wait_for("running");
    gdb::Answer aside = TRY(seats_->console_aside(focus_, std::string(line)));
    fmt::print("{}", aside.console);
    return aside.good ? Status() : fail("{}", aside.error);
  }
  gdb::Answer answer = TRY(run_in_gdb(std::string(line), body));
  debug::Inferior* inferior = seats_->inferior(focus_.process());
  if (inferior != nullptr && inferior->call_failed()) {
    inferior->forget_changes();
    hear();
    {
      auto waits = wait_for("going back to " + place_in(before.cut, focus_), before.cut);
      TRY_STATUS(engine_->restart());
      TRY_STATUS(engine_->go_to(before));
    }
    return fail("a function that was called makes a system call, or does not come back: that is not in the recording; "
                "{} is where it was", focus_.process());
  }
  fmt::print("{}", with_thread_numbers(answer.console));
  std::fflush(stdout);  // remarks follow
  show_remark();
  if (!answer.good) {
    // Python's own words come before gdb's that it has failed.
    std::string_view words = shell::trim(answer.log);
    bool is_python = words.starts_with("Python Exception") || words.starts_with("Traceback");
    if (words.ends_with(answer.error)) words = shell::trim(words.substr(0, words.size() - answer.error.size()));
    if (is_python && !words.empty()) fmt::print(stderr, "{}\n", words);
    bool misses_process = answer.error.starts_with("No ") || answer.error.find("registers") != std::string::npos;
    if (misses_process && engine_->now().pid(focus_.process()) == 0)
      return fail("{} does not run now: {}", focus_.process(), answer.error);
    return fail("{}", answer.error);
  }
  // As gdb does; but what it was at its end is what one asks for.
  if (shows_memory(line) && engine_->now().pid(focus_.process()) == 0)
    fmt::print(stderr, "{} does not run now: this is what the file of its program has\n", focus_.process());
  if (inferior != nullptr && inferior->rest() && !is_gdbs_own(*inferior))
    return report(*inferior->rest(), focus_);
  if (inferior != nullptr && inferior->changed() && !warned_) {
    warned_ = true;
    fmt::print(stderr, "the process has been changed: what it does from now on may differ from the recording\n");
  }
  return {};
}

Status DebugSession::set_focus(ThreadId thread) {
  focus_ = thread;
  return {};
}

Result<ThreadId> DebugSession::parse_thread(std::string_view text) const {
  if (text.empty()) return focus_;
  ThreadId thread = TRY(ThreadId::parse(text));
  if (!world_.graph.find(thread)) return fail("there is no {} in the recording; 'ps' shows all", thread);
  return thread;
}

Result<ProcessId> DebugSession::parse_process(std::string_view text) const {
  ProcessId process = TRY(ProcessId::parse(text));
  if (world_.processes.find(process) == nullptr)
    return fail("there is no {} in the recording; 'ps' shows all", process);
  return process;
}

void DebugSession::visit() {
  debug::State state = engine_->here();
  if (!visited_.empty() && visited_[here_].state == state) {
    visited_[here_].focus = focus_;
    return;
  }
  if (!visited_.empty()) visited_.resize(here_ + 1);
  visited_.push_back({std::move(state), focus_});
  here_ = visited_.size() - 1;
}

std::string DebugSession::process_end(ProcessId process) const {
  const ProcessRecord* record = world_.processes.find(process);
  return record == nullptr ? "" : pastcone::to_string(record->end);
}

}  // namespace pastcone::cli

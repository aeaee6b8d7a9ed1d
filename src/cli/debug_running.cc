// Commands of `pastcone debug` that move processes.
#include <unistd.h>

#include <algorithm>

#include "pastcone/causal/cone.h"
#include "pastcone/cli/debug_arguments.h"
#include "pastcone/cli/debug_completion.h"
#include "pastcone/cli/debug_session.h"
#include "pastcone/cli/graph_text.h"
#include "pastcone/debug/inlined.h"
#include "pastcone/debug/source_frame.h"
#include "pastcone/replay/director.h"
#include "pastcone/trace/json.h"

namespace pastcone::cli {
namespace {

using debug::Rest;
using replay::Halt;
using replay::TraceStop;

/// "#0  main () at x.c:3" without the number.
std::string_view without_number(std::string_view text) {
  if (!text.starts_with('#')) return text;
  size_t at = text.find_first_not_of(" \t", text.find_first_of(" \t"));
  return at == std::string_view::npos ? text : text.substr(at);
}

std::string with_arguments(std::string command, std::string_view arguments) {
  if (!arguments.empty()) command.append(" ").append(arguments);
  return command;
}

constexpr std::string_view kHasArguments = "the run is recorded, with its arguments";

}  // namespace

void DebugSession::bind_running(shell::Commands& commands) {
  commands.bind("run to", [this](std::string_view text) { return run_to(text); },
                demand_completer([this](std::string_view text) { return complete_event(text); },
                                 [this] { return object_names(world_.recording); }));
  shell::Completer places = like_in_gdb(completion_by(*engine_, *seats_, focus_), "break");
  commands.bind("continue", [this](std::string_view text) { return advance(text); });
  commands.bind("continue all", without_argument("continue all", [this] {
    return seeks_predicates() ? advance_to_predicates() : advance_all();
  }));
  for (const char* name : {"step", "next", "stepi", "nexti"}) {
    bool lines = !std::string_view(name).ends_with('i');
    commands.bind(name, [this, name, lines](std::string_view count) -> Status {
      if (!count.empty() && TRY(ask_for_steps(count)) < 1) return {};
      return lines ? resume_by_lines(name, count) : resume_in_gdb(with_arguments(name, count));
    });
  }
  commands.bind("until", [this](std::string_view place) { return resume_by_lines("until", place); }, places);
  for (const char* name : {"finish", "advance"})
    commands.bind(name, [this, name](std::string_view place) { return resume_in_gdb(with_arguments(name, place)); },
                  name == std::string_view("advance") ? places : shell::Completer());
  commands.bind("restart", [this](std::string_view text) -> Status {
    if (!text.empty()) return fail("'restart' takes no argument, not '{}'; try: back, or: run to p1:20", text);
    return restart();
  });
  commands.bind("run", [this](std::string_view arguments) -> Status {
    if (!arguments.empty()) return fail("{}; try: run, or: run to p1:20", kHasArguments);
    TRY_STATUS(restart());
    return seeks_predicates() ? advance_to_predicates() : advance_all();
  });
  commands.bind("start", [this](std::string_view arguments) -> Status {
    if (!arguments.empty()) return fail("{}; try: start", kHasArguments);
    TRY_STATUS(restart());
    TRY_STATUS(set_break("main", true));
    return report(run_on([this] { return engine_->advance(focus_.process()); }), focus_);
  });
}

Status DebugSession::restart() {
  {
    auto waits = wait_for("going back to the beginning");
    TRY_STATUS(engine_->restart());
    TRY_STATUS(to_first_program());
  }
  focus_ = ThreadId(ProcessId(1), 1);
  breakpoints_->forget_hits();
  visit();
  fmt::print("{}\n", event_text(focus_));
  return {};
}

Status DebugSession::go_to(const debug::State& state, std::optional<ThreadId> focus) {
  {
    auto waits = wait_for("going to " + place_in(state.cut, focus.value_or(focus_)), state.cut);
    TRY_STATUS(engine_->go_to(state));
  }
  if (focus) focus_ = *focus;
  visit();
  return show_place(focus_, "");
}

Status DebugSession::advance(std::string_view count) {
  if (!count.empty()) TRY_STATUS(pass_over(count));
  if (seeks_predicates()) return advance_to_predicates();
  if (engine_->now().pid(focus_.process()) == 0) return advance_all();
  // A gdb that looks at it may have points of its own, and displays.
  if (seats_->inferior(focus_.process()) != nullptr) return resume_in_gdb("continue");
  return report(run_on([this] { return engine_->advance(focus_.process()); }), focus_);
}

Status DebugSession::advance_all() {
  return report(run_on([this] { return engine_->everybody(); }), focus_);
}

Result<Rest> DebugSession::run_on(const std::function<Result<Rest>()>& how) {
  auto waits = wait_for("running");
  return how();
}

Result<gdb::Answer> DebugSession::run_in_gdb(const std::string& command, const shell::Lines& body) {
  auto waits = wait_for("running");
  return seats_->console(focus_, command, body);
}

/// A thread that stands at an event is in a function of libc, and is shown where that was called: to the user, that is
/// the line which `next` is to finish.
Result<DebugSession::Left> DebugSession::leave_call() {
  auto real = engine_->now().real_registers(focus_), seen = engine_->now().registers(focus_);
  if (!real || !seen || real->rip == seen->rip) return Left::kNothing;
  gdb::Gdb* gdb = TRY(seats_->look_at(focus_));
  auto shown = TRY(debug::find_source_frame(*gdb));
  if (!shown || shown->level == 0) return Left::kNothing;
  TRY(gdb->run("-stack-select-frame 0"));
  TRY(run_in_gdb("advance *" + shown->address));  // `finish` would number a value
  debug::Inferior* inferior = seats_->inferior(focus_.process());
  if (inferior == nullptr || !inferior->rest()) return Left::kNothing;
  Result<Rest> rest = *inferior->rest();
  if (!is_gdbs_own(*inferior)) {
    TRY_STATUS(report(rest, focus_));
    return Left::kStopped;
  }
  gdb = TRY(seats_->look_at(focus_));
  auto now = TRY(debug::find_source_frame(*gdb));
  return now && now->level == 0 && now->line != shown->line ? Left::kLine : Left::kCall;
}

/// One that sleeps until the child of its vfork lets it go cannot be looked at, nor stepped. True: it can, now.
Result<bool> DebugSession::leave_vfork() {
  TRY_STATUS(engine_->now().freeze(focus_.process()));
  if (!engine_->now().in_vfork(focus_)) return true;
  debug::State here = engine_->here();
  uint32_t index = focus_index(), now = here.cut[index];
  causal::Cut target = causal::past_cone(world_.graph, {index, now + 1}, causal::Order::kEnforced);
  target.resize(world_.graph.real_threads);
  for (uint32_t i = 0; i < target.size(); ++i) target[i] = std::max(target[i], here.cut[i]);
  target[index] = now;
  Result<Rest> rest = run_on([&] { return engine_->run_to(target); });
  if (rest && rest->halt == Halt::kStanding && rest->stops.empty()) {
    while (engine_->now().in_vfork(focus_) && !engine_->interrupted()) usleep(500);  // the kernel is waking it
    return true;
  }
  TRY_STATUS(report(rest, focus_));
  return false;
}

/// gdb does not always say that it has stopped after less than one step.
Result<int64_t> DebugSession::ask_for_steps(std::string_view count) {
  gdb::Gdb* gdb = TRY(seats_->look_at(focus_));
  gdb::Answer answer = TRY(gdb->run(fmt::format("-data-evaluate-expression {}", gdb::c_string(fmt::format("(long)({})", count)))));
  if (!answer.good) return fail("{}", answer.error);
  return std::strtoll(answer.results["value"].text.c_str(), nullptr, 0);
}

Status DebugSession::resume_by_lines(const std::string& name, std::string_view arguments) {
  std::string command = with_arguments(name, arguments);
  if (name == "until" && !arguments.empty()) return resume_in_gdb(command);
  ThreadId moved = focus_;
  if (!TRY(leave_vfork())) return {};
  Left left = TRY(leave_call());
  if (left == Left::kStopped) return {};
  if (left != Left::kLine) return resume_in_gdb(command);
  int64_t count = std::atoll(std::string(arguments).c_str());  // what is no number, gdb has to say
  if (!arguments.empty() && count != 1) return resume_in_gdb(fmt::format("{} {} - 1", name, arguments));
  visit();
  return show_place(moved, "");
}

/// Why a step has led beyond the function that it began in; gdb says it before.
static std::string_view why_through(std::string_view console) {
  constexpr std::string_view kEnd = "which has no line number information.\n";
  size_t end = console.find(kEnd);
  bool through = console.starts_with("Single stepping until exit") && end != std::string_view::npos;
  return through ? console.substr(0, end + kEnd.size()) : std::string_view();
}

/// Why it is aborted gdb says in lines before.
static std::string error_text(const gdb::Answer& answer) {
  if (answer.error != "Command aborted." || answer.log.empty()) return answer.error;
  std::string text(shell::trim(answer.log));
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at))
    text.replace(at, text.find_first_not_of('\n', at) - at, " ");
  return text;
}

Status DebugSession::resume_in_gdb(const std::string& command) {
  if (!TRY(leave_vfork())) return {};
  gdb::Answer answer = TRY(run_in_gdb(command));
  debug::Inferior* inferior = seats_->inferior(focus_.process());
  if (inferior == nullptr || !inferior->rest()) {
    if (engine_->now().was_killed(focus_.process())) return killed_by_somebody(focus_.process());
    if (!answer.good) return fail("{}", error_text(answer));
    fmt::print("{}", answer.console);
    return {};
  }
  Result<Rest> rest = *inferior->rest();
  show_remark();
  if (rest && rest->halt == Halt::kStanding && rest->stops.empty() && engine_->now().tid(focus_) != 0 &&
      !ends_->text_at(focus_) && !is_in_program(focus_))
    return fail("{} has not begun with its program; 'break main' and 'continue' lead into it", focus_);
  if (!is_gdbs_own(*inferior)) {
    fmt::print("{}", why_through(answer.console));
    return report(rest, focus_);
  }
  std::string_view shown = answer.console;
  if (shown.starts_with("Continuing.\n")) shown.remove_prefix(12);
  while (shown.starts_with('\n')) shown.remove_prefix(1);
  fmt::print("{}", shown);
  if (!shown.empty() && !shown.ends_with('\n')) fmt::print("\n");  // a source that is not there
  if (focus_.number() != rest->stops[0].thread.number()) focus_ = rest->stops[0].thread;
  visit();
  return {};
}

bool DebugSession::is_in_program(ThreadId thread) {
  auto registers = engine_->now().registers(thread);
  return registers && engine_->now().code(thread.process()).visible(registers->rip);
}

bool DebugSession::is_gdbs_own(const debug::Inferior& inferior) const {
  return inferior.own() && std::ranges::all_of((*inferior.rest())->stops, [&](const Rest::Stopped& one) {
    return breakpoints_->hit_by(one.thread).empty() && !watches_->was_hit(one.thread);
  });
}

/// Not as in the recording, and not by us.
Status DebugSession::killed_by_somebody(ProcessId process) const {
  return fail("{} has been killed, by nobody in the recording; 'restart' begins again", process);
}

Status DebugSession::show_place(ThreadId thread, const std::string& before, bool innermost) {
  if (engine_->now().in_vfork(thread)) {
    fmt::print("{}{} is in vfork, until its child executes a program or ends\n", before, thread);
    return {};
  }
  if (const ProgramRun* next = engine_->now().about_to_begin(thread.process())) {
    fmt::print("{}{} is executing {}, which begins at {}\n", before, thread, next->path, next->event);
    return {};
  }
  if (engine_->now().tid(thread) == 0) {
    if (engine_->now().was_killed(thread.process())) return killed_by_somebody(thread.process());
    bool begun = engine_->now().steps_done(thread) > 0;
    fmt::print("{}{}\n", before,
               begun ? fmt::format("{} has ended ({})", thread, process_end(thread.process()))
                     : fmt::format("{} has not begun", thread));
    return {};
  }
  gdb::Gdb* gdb = TRY(seats_->look_at(thread));
  if (!innermost) TRY_STATUS(debug::select_source_frame(*gdb));
  seats_->note_frame(thread);
  std::string text = TRY(gdb->frame_text());
  fmt::print("{}{}", before, without_number(text));
  return show_displays(thread);
}

Status DebugSession::show_displays(ThreadId thread) {
  gdb::Gdb* gdb = TRY(seats_->look_at(thread));
  gdb::Answer shown = TRY(gdb->console("info display"));
  bool calls = shown.console.find('(') != std::string::npos && stands_in_event(thread);
  shown = calls ? TRY(seats_->console_aside(thread, "display")) : TRY(gdb->console("display"));
  fmt::print("{}", shown.console);
  if (calls && !shown.good) fmt::print("{}\n", shown.error);
  return {};
}

/// True: nothing is to be shown of it.
bool DebugSession::take_actions(const std::vector<int>& numbers) {
  bool is_silent = false;
  for (int number : numbers) {
    auto point = breakpoints_->find(number);
    if (!point) continue;
    shell::Lines actions = (*point)->actions;
    bool silent = !actions.empty() && actions[0] == "silent";
    if (silent) actions.erase(actions.begin());
    actions_.insert(actions_.end(), actions.begin(), actions.end());
    is_silent = is_silent || silent;
  }
  return is_silent;
}

/// The one that has the breakpoint, of those that are inlined there.
Status DebugSession::show_function_of(const debug::Breakpoint& breakpoint, ThreadId thread) {
  gdb::Gdb* gdb = TRY(seats_->look_at(thread));
  uint64_t address = TRY(engine_->now().registers(thread)).rip;
  for (const debug::Site& site : breakpoints_->sites_of(breakpoint)) {
    if (site.address != address) continue;
    return debug::show_inlined(*gdb, *seats_->inferior(thread.process()), site.function);
  }
  return {};
}

/// As gdb says it.
Status DebugSession::show_untested(const std::string& condition, ThreadId thread) {
  gdb::Answer answer = TRY(seats_->console_aside(thread, fmt::format("output ({})", condition)));
  if (!answer.good) fmt::print("Error in testing breakpoint condition:\n{}\n\n", answer.error);
  else fmt::print("Error in testing breakpoint condition: {} has no value here.\n\n", condition);
  return {};
}

std::string DebugSession::hit_title(int number) const {
  auto breakpoint = breakpoints_->find(number);
  bool temporary = breakpoint && (*breakpoint)->temporary;
  return fmt::format("{} {}, ", temporary ? "Temporary breakpoint" : "Breakpoint", number);
}

Status DebugSession::show_stop(const Rest::Stopped& one) {
  if (one.thread != focus_) fmt::print("[Switching to {}]\n", one.thread);
  focus_ = one.thread;
  if (!one.stop) {
    if (auto end = ends_->text_at(one.thread)) return show_place(one.thread, *end + "\n");
    std::vector<int> numbers;
    if (std::string watched = watch_text(one.thread, numbers); !watched.empty()) {
      bool silent = take_actions(numbers);
      spend(numbers);
      return silent ? Status() : show_place(one.thread, watched);
    }
    numbers = breakpoints_->messages_at(one.thread);
    for (int number : numbers) ++TRY(breakpoints_->find(number))->hits;
    bool silent = take_actions(numbers);
    std::string before = numbers.empty() ? std::string() : hit_title(numbers[0]);
    spend(numbers);
    if (silent) return {};
    return show_place(one.thread, before + event_text(one.thread) + ": ");
  }
  if (one.stop->kind == TraceStop::Kind::kEnded) return show_place(one.thread, "");
  std::vector<int> numbers = breakpoints_->hit_by(one.thread);
  bool hit = one.stop->kind == TraceStop::Kind::kBreak && !numbers.empty();
  std::string before;
  std::vector<int> watching;
  std::string watched = watch_text(one.thread, watching);
  bool silent = take_actions(watching);
  silent = (hit && take_actions(numbers)) || silent;
  if (hit) {
    before = hit_title(numbers[0]);
    auto breakpoint = breakpoints_->find(numbers[0]);
    if (breakpoint) TRY_STATUS(show_function_of(**breakpoint, one.thread));
    if (breakpoint && !silent && breakpoints_->is_untested(numbers[0], one.thread))
      TRY_STATUS(show_untested((*breakpoint)->condition, one.thread));
    spend(numbers);
  }
  spend(watching);
  if (silent) return {};
  // Where something of the user's own was hit is what is shown, with its source or not.
  return show_place(one.thread, watched + before, hit || !watched.empty());
}

Status DebugSession::report(const Result<Rest>& rest, ThreadId moved) {
  actions_.clear();  // of a stop that was left
  show_remarks();
  if (!rest) return tl::unexpected<Error>(rest.error());
  visit();
  stopped_.clear();
  for (const Rest::Stopped& one : rest->stops) stopped_.insert(one.thread);
  switch (rest->halt) {
    case Halt::kInterrupted:
      hear();
      fmt::print("interrupted\n");
      return show_place(focus_, "");
    case Halt::kDiverged:
      for (const replay::Divergence& divergence : engine_->now().live().divergences())
        fmt::print("{}\n", to_string(divergence));
      return fail("the replay has diverged; 'restart' begins again");
    case Halt::kUnread:
      return fail("what the program prints cannot be written");
    case Halt::kFailed:
      return engine_->now().live().failure();
    default:
      break;
  }
  // In the same order every time; who was meant comes last, and is in focus then.
  std::vector<Rest::Stopped> stops = rest->stops;
  std::ranges::sort(stops, {}, [&](const Rest::Stopped& one) {
    return std::pair(one.thread.process() == moved.process(), one.thread);
  });
  for (const Rest::Stopped& one : stops) TRY_STATUS(show_stop(one));
  if (!stops.empty()) {
    visit();
    return {};
  }
  std::vector<replay::Standing> all = engine_->now().live().standing();
  for (const auto& [process, record] : world_.processes.processes())
    if (engine_->now().was_killed(process)) return killed_by_somebody(process);
  auto is_over = [this](const replay::Standing& one) { return one.ended || ends_->is_over(one.last.thread()); };
  if (std::ranges::all_of(all, is_over)) {
    std::string why = printable(world_.recording.why_incomplete());
    fmt::print("the recording ends here{}{}\n", why.empty() ? "" : ", incomplete: ", why);
    return {};
  }
  std::optional<std::string> end = ends_->text_at(moved);
  return show_place(moved, end ? *end + "\n" : "");
}

}  // namespace pastcone::cli

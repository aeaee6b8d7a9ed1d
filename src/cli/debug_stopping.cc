// Commands of `pastcone debug` about where to stop.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>

#include "pastcone/cli/debug_arguments.h"
#include "pastcone/cli/debug_completion.h"
#include "pastcone/cli/debug_session.h"
#include "pastcone/cli/text.h"

namespace pastcone::cli {
namespace {

std::string who_text(const debug::Breakpoint& breakpoint) {
  if (breakpoint.message) return "-";
  if (breakpoint.thread != 0) return pastcone::to_string(ThreadId(*breakpoint.process, breakpoint.thread));
  if (breakpoint.process) return pastcone::to_string(*breakpoint.process);
  return breakpoint.program.empty() ? std::string("all") : breakpoint.program;
}

std::string_view type_text(const debug::Breakpoint& breakpoint) {
  if (breakpoint.message) return "message";
  if (breakpoint.watch == "rwatch") return "read watchpoint";
  if (breakpoint.watch == "awatch") return "acc watchpoint";
  return breakpoint.watch.empty() ? "breakpoint" : "hw watchpoint";
}

std::string_view disposition(const debug::Breakpoint& breakpoint) {
  if (breakpoint.temporary) return "del";
  return breakpoint.stops > 0 ? "dis" : "keep";
}

/// "in work at x.c:12", as gdb has it; for several places what was asked for.
std::string what_text(const debug::Breakpoint& breakpoint, const std::vector<debug::Site>& sites) {
  bool place = !breakpoint.message && breakpoint.watch.empty();
  if (place && sites.empty()) return "<PENDING> " + breakpoint.location;
  if (sites.size() != 1 || sites[0].function.empty()) return breakpoint.location;
  if (sites[0].line.empty()) return fmt::format("in {}", sites[0].function);
  return fmt::format("in {} at {}:{}", sites[0].function, sites[0].file, sites[0].line);
}

}  // namespace

void DebugSession::bind_stopping(shell::Commands& commands) {
  shell::Completer places = like_in_gdb(completion_by(*engine_, *seats_, focus_), "break");
  auto with_processes = [this](const char* word) {
    return shell::word_completer([this, word] {
      std::vector<std::string> names = process_names();
      names.emplace_back(word);
      return names;
    }, ">");
  };
  commands.bind("break", [this](std::string_view text) { return set_break(text, false); }, places);
  commands.bind("tbreak", [this](std::string_view text) { return set_break(text, true); }, places);
  auto in_programs = program_completer([this] { return program_names(); }, places);
  commands.bind("break all", [this](std::string_view text) { return set_break_all(text, false); }, in_programs);
  commands.bind("tbreak all", [this](std::string_view text) { return set_break_all(text, true); }, in_programs);
  for (bool temporary : {false, true}) {
    std::string name = temporary ? "tbreak" : "break";
    commands.bind(name + " send", [this, temporary](std::string_view text) { return set_message_break(text, false, temporary); },
                  with_processes("from"));
    commands.bind(name + " recv", [this, temporary](std::string_view text) { return set_message_break(text, true, temporary); },
                  with_processes("to"));
  }
  commands.bind("set breakpoint pending", [this](std::string_view text) { return set_pending(text); },
                shell::word_completer([] { return std::vector<std::string>{"auto", "off", "on"}; }));
  commands.bind("info breakpoints", [this](std::string_view text) { return list_breakpoints(text); });
  commands.bind("delete", [this](std::string_view text) { return remove_points(text); });
  for (bool enabled : {false, true})
    commands.bind(enabled ? "enable" : "disable",
                  [this, enabled](std::string_view text) { return enable_points(text, enabled); });
}

Status DebugSession::set_break(std::string_view text, bool temporary) {
  debug::Breakpoint breakpoint;
  breakpoint.process = focus_.process();
  breakpoint.temporary = temporary;
  // pN: LOCATION
  if (size_t colon = text.find(": "); colon != std::string_view::npos && ProcessId::parse(text.substr(0, colon))) {
    breakpoint.process = TRY(parse_process(text.substr(0, colon)));
    text = shell::trim(text.substr(colon + 1));
  }
  PointPlace place = split_place(text);
  breakpoint.location = place.location;
  breakpoint.condition = place.condition;
  if (!place.thread.empty()) {
    int64_t number = TRY(ask_for_steps(place.thread));
    breakpoint.thread = TRY(thread_numbered(*breakpoint.process, number));
  }
  if (breakpoint.location.empty()) {
    if (engine_->now().tid(focus_) == 0) return fail("{} does not run here; name a location", focus_);
    TRY_STATUS(engine_->now().freeze(focus_.process()));
    breakpoint.location = fmt::format("*{:#x}", TRY(engine_->now().registers(focus_)).rip);
  }
  bool here = breakpoint.process == focus_.process();
  TRY_STATUS(settle(breakpoint.location, here ? focus_ : ThreadId(*breakpoint.process, 1)));
  return add_break(std::move(breakpoint));
}

/// What depends on the state or the frame is what it is now: a line of the file that is shown, the address that an expression gives.
Status DebugSession::settle(std::string& location, ThreadId thread) {
  bool by_line = location.find_first_not_of("0123456789+-") == std::string::npos;
  bool by_option = location.starts_with("-li") && location.find(" -s") == std::string::npos;
  bool by_value = location.starts_with('*');
  if ((!by_line && !by_option && !by_value) || (by_value && engine_->now().tid(thread) == 0)) return {};
  gdb::Gdb* gdb = TRY(seats_->look_at(thread));
  if (by_value) {
    gdb::Answer answer = TRY(gdb->run("-data-evaluate-expression " +
                                      gdb::c_string(fmt::format("(unsigned long)({})", location.substr(1)))));
    if (auto address = answer.results["value"].number(); answer.good && address) location = fmt::format("*{:#x}", *address);
    return {};  // else gdb will say what is wrong with it
  }
  gdb::Answer source = TRY(gdb->run("-file-list-exec-source-file"));
  if (!source.good) return fail("{}", source.error);
  if (by_option) location = std::string(shell::trim(location.substr(std::min(location.find(' '), location.size()))));
  if (location.empty() || location.find_first_not_of("0123456789+-") != std::string::npos) return fail("a line number is missing");
  int64_t line = std::strtoll(location.c_str(), nullptr, 10);
  bool relative = !std::isdigit(static_cast<unsigned char>(location[0]));
  if (relative) line += static_cast<int64_t>(source.results["line"].number().value_or(0));
  location = fmt::format("{}:{}", source.results["file"].text, line);
  return {};
}

Status DebugSession::set_break_all(std::string_view text, bool temporary) {
  debug::Breakpoint breakpoint;
  breakpoint.temporary = temporary;
  // PROGRAM: LOCATION, but not FILE:LINE or a::b, where no blank follows.
  size_t colon = text.find(": ");
  if (colon != std::string_view::npos && text.substr(0, colon).find(' ') == std::string_view::npos) {
    breakpoint.program = std::string(text.substr(0, colon));
    text = shell::trim(text.substr(colon + 1));
  }
  PointPlace place = split_place(text);
  if (!place.thread.empty()) return fail("a thread is one of a process; for example: break p2: {} thread 1", place.location);
  if (place.location.empty()) return fail("where? for example: break all server: srv.c:80");
  breakpoint.location = place.location;
  breakpoint.condition = place.condition;
  if (breakpoints_->meant_for(breakpoint, focus_.process())) TRY_STATUS(settle(breakpoint.location, focus_));
  return add_break(std::move(breakpoint));
}

/// `off` is `auto`: what is known to come is never refused.
Status DebugSession::set_pending(std::string_view text) {
  if (text != "on" && text != "off" && text != "auto")
    return fail("\"on\", \"off\" or \"auto\" expected.");
  pending_ = text == "on";
  return {};
}

Status DebugSession::set_message_break(std::string_view text, bool receive, bool temporary) {
  debug::Breakpoint breakpoint;
  breakpoint.temporary = temporary;
  debug::MessagePoint point;
  point.receive = receive;
  size_t arrow = text.find("->");
  if (arrow != std::string_view::npos) {
    point.from = TRY(parse_process(shell::trim(text.substr(0, arrow))));
    point.to = TRY(parse_process(shell::trim(text.substr(arrow + 2))));
  } else if (text.starts_with("from ")) {
    point.from = TRY(parse_process(shell::trim(text.substr(5))));
  } else if (text.starts_with("by ") || text.starts_with("to ")) {
    point.to = TRY(parse_process(shell::trim(text.substr(3))));
  } else {
    return fail("of whom? for example: break {} p1->p2, break {} {} p3", receive ? "recv" : "send",
                receive ? "recv" : "send", receive ? "to" : "from");
  }
  breakpoint.message = point;
  breakpoint.location = fmt::format("{} {}", receive ? "recv" : "send", text);
  return add_break(std::move(breakpoint));
}

Status DebugSession::add_break(debug::Breakpoint breakpoint) {
  breakpoint.pending = pending_;
  auto added_as = [&] {
    auto waits = wait_for("looking for " + breakpoint.location);
    return breakpoints_->add(std::move(breakpoint));
  }();
  int number = TRY(std::move(added_as));
  seats_->set_variable("bpnum", std::to_string(number));
  const debug::Breakpoint& added = *TRY(breakpoints_->find(number));
  fmt::print("{} {}", added.temporary ? "Temporary breakpoint" : "Breakpoint", number);
  std::vector<debug::Site> sites = breakpoints_->sites_of(added);
  if (added.message) {
    fmt::print(" at {}\n", added.location);
  } else if (sites.empty()) {
    fmt::print(" ({}) pending.\n", added.location);
  } else if (sites.size() > 1) {
    fmt::print(" at {:#x}: {}. ({} locations)\n", sites[0].address, added.location, sites.size());
  } else if (sites[0].line.empty()) {
    fmt::print(" at {:#x}\n", sites[0].address);
  } else {
    fmt::print(" at {:#x}: file {}, line {}.\n", sites[0].address, sites[0].file, sites[0].line);
  }
  return {};
}

Result<std::vector<int>> DebugSession::numbers_in(std::string_view text) {
  return parse_numbers(text, [this](std::string_view variable) -> Result<int> {
    gdb::Answer answer = TRY(seats_->console(focus_, fmt::format("output {}", variable)));
    int number = 0;
    const char* end = answer.console.data() + answer.console.size();
    if (!answer.good || answer.console.empty() || std::from_chars(answer.console.data(), end, number).ptr != end)
      return fail("Convenience variable must have integer value.");
    return number;
  });
}

Status DebugSession::change(std::string_view numbers, const std::function<Status(int)>& how) {
  std::vector<int> all = TRY(numbers_in(numbers));
  if (numbers.empty()) {
    for (const auto& [number, breakpoint] : breakpoints_->all()) all.push_back(number);
    for (const auto& [number, predicate] : predicates_) all.push_back(number);
  }
  Status first;
  for (int number : all)
    if (Status done = how(number); !done && first) first = done;
  return first;
}

Status DebugSession::remove_points(std::string_view text) {
  if (take_word(text, "display")) return hand_to_gdb(shell::trim(fmt::format("delete display {}", text)));
  take_word(text, "breakpoints");
  return change(text, [this](int number) -> Status {
    return remove_predicate(number) ? Status() : remove_point(number);
  });
}

Status DebugSession::enable_points(std::string_view text, bool enabled) {
  if (take_word(text, "display"))
    return hand_to_gdb(shell::trim(fmt::format("{} display {}", enabled ? "enable" : "disable", text)));
  take_word(text, "breakpoints");
  bool remove = enabled && take_word(text, "delete");
  uint64_t stops = enabled && take_word(text, "once") ? 1 : 0;
  if (enabled && take_word(text, "count")) {
    size_t end = std::min(text.find(' '), text.size());
    if (end == 0) return fail("Argument required (hit count).");
    int64_t count = TRY(ask_for_steps(text.substr(0, end)));
    if (count < 1) return fail("Argument required (hit count).");
    stops = static_cast<uint64_t>(count);
    text = shell::trim(text.substr(end));
  }
  return change(text, [&](int number) -> Status {
    TRY_STATUS(enable_point(number, enabled));
    if (auto point = breakpoints_->find(number); point && enabled) {
      (*point)->stops = stops;
      (*point)->temporary = (*point)->temporary || remove;
    }
    return {};
  });
}

Status DebugSession::list_breakpoints(std::string_view numbers) {
  std::vector<int> only = TRY(numbers_in(numbers));
  bool any = std::ranges::any_of(breakpoints_->all(), [&](const auto& entry) {
    return only.empty() || std::ranges::find(only, entry.first) != only.end();
  });
  if (any) return list_points(only, false);
  if (only.empty()) {
    fmt::print("No breakpoints or watchpoints.\n");
  } else {
    fmt::print("No breakpoint or watchpoint matching '{}'.\n", numbers);
  }
  return {};
}

Status DebugSession::list_watchpoints() {
  bool any = std::ranges::any_of(breakpoints_->all(), [](const auto& entry) { return !entry.second.watch.empty(); });
  if (any) return list_points({}, true);
  fmt::print("No watchpoints.\n");
  return {};
}

Status DebugSession::list_points(const std::vector<int>& numbers, bool only_watches) {
  fmt::print("{:<7} {:<14} {:<4} {:<3} {:<10} What\n", "Num", "Type", "Disp", "Enb", "Who");
  for (const auto& [number, one] : breakpoints_->all()) {
    bool wanted = numbers.empty() || std::ranges::find(numbers, number) != numbers.end();
    if (!wanted || (only_watches && one.watch.empty())) continue;
    fmt::print("{:<7} {:<14} {:<4} {:<3} {:<10} {}\n", number, type_text(one), disposition(one),
               one.enabled ? "y" : "n", who_text(one), what_text(one, breakpoints_->sites_of(one)));
    if (!one.condition.empty()) fmt::print("\tstop only if {}\n", one.condition);
    if (one.hits > 0)
      fmt::print("\tbreakpoint already hit {} time{}\n", one.hits, one.hits == 1 ? "" : "s");
    if (one.ignored > 0) fmt::print("\tignore next {} hits\n", one.ignored);
    for (const std::string& line : one.actions) fmt::print("        {}\n", line);
  }
  return {};
}

}  // namespace pastcone::cli

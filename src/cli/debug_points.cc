// Commands of `pastcone debug` about breakpoints that there are, and about watchpoints.
#include <algorithm>

#include "pastcone/cli/debug_arguments.h"
#include "pastcone/cli/debug_completion.h"
#include "pastcone/cli/debug_session.h"
#include "pastcone/gdb/compile.h"

namespace pastcone::cli {
namespace {

std::string_view title_of(std::string_view command) {
  if (command == "rwatch") return "Hardware read watchpoint";
  return command == "awatch" ? "Hardware access (read/write) watchpoint" : "Hardware watchpoint";
}

/// -l or -location, in front.
bool take_location_option(std::string_view& text) {
  for (std::string_view option : {"-location ", "-l "}) {
    if (!text.starts_with(option)) continue;
    text = shell::trim(text.substr(option.size()));
    return true;
  }
  return false;
}

std::string hex_text(const debug::ValueBytes& bytes) {
  std::string text;
  for (uint8_t byte : bytes) text += fmt::format("{:02x}", byte);
  return text;
}

}  // namespace

void DebugSession::bind_points(shell::Commands& commands) {
  for (const char* name : {"watch", "rwatch", "awatch"})
    commands.bind(name, [this, name](std::string_view text) { return set_watch(name, text); },
                  like_in_gdb(completion_by(*engine_, *seats_, focus_), "print"));
  commands.bind("info watchpoints", [this](std::string_view) { return list_watchpoints(); });
  commands.bind("condition", [this](std::string_view text) { return set_condition(text); });
  commands.bind("ignore", [this](std::string_view text) { return set_ignore(text); });
  for (const char* name : {"up", "down", "frame"})
    commands.bind(name, [this, name](std::string_view text) { return select_frame(name, text); });
}

Status DebugSession::set_watch(const std::string& command, std::string_view text) {
  debug::Breakpoint watch;
  watch.process = focus_.process();
  watch.watch = command;
  bool fixed = take_location_option(text);
  PointPlace place = split_place(text);
  std::string expression = place.location;
  watch.condition = place.condition;
  if (!place.thread.empty()) return fail("a watchpoint is for all threads of the process");
  if (expression.empty()) return fail("Argument required (expression to compute).");
  watch.location = fixed ? "-location " + expression : expression;
  std::string shown = watch.location;
  gdb::Gdb* gdb = TRY(seats_->look_at(focus_));
  debug::WatchedExpression what = TRY(debug::look_up(*gdb, engine_->now(), focus_, expression, fixed));
  if (command != "watch" && !what.has_address) return fail("Expression cannot be implemented with read/access watchpoint.");
  auto compiled = TRY(compile_condition(watch.condition));
  int number = TRY(watches_->add(std::move(watch), std::move(what), std::move(compiled)));
  seats_->set_variable("bpnum", std::to_string(number));
  fmt::print("{} {}: {}\n", title_of(command), number, shown);
  return {};
}

Result<std::optional<gdb::Formula>> DebugSession::compile_condition(const std::string& condition) {
  if (condition.empty()) return std::optional<gdb::Formula>();
  gdb::Gdb* gdb = TRY(seats_->look_at(focus_));
  return std::optional(TRY(debug::compile_condition(*gdb, engine_->now(), focus_, condition)));
}

/// As gdb would print it, had it still the value.
std::string DebugSession::value_text(gdb::Gdb& gdb, const debug::WatchedExpression& what,
                                     const std::optional<debug::ValueBytes>& value) {
  if (!value) return "<unreadable>";
  std::string hex = hex_text(*value);
  auto answer = gdb.console(fmt::format(
      "python print(gdb.Value(bytes.fromhex('{}'), gdb.parse_and_eval({}).type).format_string())", hex,
      gdb::c_string(what.type)));
  if (!answer || !answer->good) return hex;
  return std::string(shell::trim(answer->console));
}

std::string DebugSession::watch_text(ThreadId thread, std::vector<int>& numbers) {
  std::string text;
  for (const debug::Watches::Hit& hit : watches_->hits_of(thread)) {
    auto point = breakpoints_->find(hit.number);
    const debug::WatchedExpression* what = watches_->find(hit.number);
    auto gdb = seats_->look_at(thread);
    if (!point || what == nullptr || !gdb) continue;
    if (hit.left) {
      text += fmt::format("Watchpoint {} deleted because the program has left the block in\n"
                          "which its expression is valid.\n", hit.number);
      (void)remove_point(hit.number);
      continue;
    }
    numbers.push_back(hit.number);
    text += fmt::format("{} {}: {}\n\n", title_of((*point)->watch), hit.number, (*point)->location);
    std::string now = value_text(**gdb, *what, hit.now);
    if (hit.before == hit.now) {
      text += fmt::format("Value = {}\n", now);
    } else {
      text += fmt::format("Old value = {}\nNew value = {}\n", value_text(**gdb, *what, hit.before), now);
    }
  }
  return text;
}

Status DebugSession::remove_point(int number) {
  TRY(breakpoints_->find(number));
  watches_->remove(number);
  return breakpoints_->remove(number);
}

void DebugSession::spend(const std::vector<int>& numbers) {
  for (int number : numbers) {
    auto point = breakpoints_->find(number);
    if (!point) continue;
    if ((*point)->temporary) {
      (void)remove_point(number);
    } else if ((*point)->stops > 0 && --(*point)->stops == 0) {
      (void)enable_point(number, false);
    }
  }
}

Status DebugSession::enable_point(int number, bool enabled) {
  if (auto predicate = predicates_.find(number); predicate != predicates_.end()) {
    predicate->second.enabled = enabled;
    return {};
  }
  debug::Breakpoint* point = TRY(breakpoints_->find(number));
  bool was_enabled = std::exchange(point->enabled, enabled);
  if (Status changed = watches_->changed(number); !changed) {
    point->enabled = was_enabled;
    return changed;
  }
  breakpoints_->changed();
  return {};
}

/// NUMBER …: what is behind it stays.
Result<debug::Breakpoint*> DebugSession::take_point(std::string_view& text) {
  size_t end = std::min(text.find_first_of(" \t"), text.size());
  std::vector<int> numbers = TRY(numbers_in(text.substr(0, end)));
  text = shell::trim(text.substr(end));
  if (numbers.size() != 1) return fail("one breakpoint at a time");
  return breakpoints_->find(numbers[0]);
}

Status DebugSession::set_condition(std::string_view text) {
  if (text.empty()) return fail("Argument required (breakpoint number).");
  debug::Breakpoint* point = TRY(take_point(text));
  int number = point->number;
  if (!point->watch.empty()) watches_->set_condition(number, TRY(compile_condition(std::string(text))));
  TRY_STATUS(breakpoints_->set_condition(number, std::string(text)));
  if (text.empty()) fmt::print("Breakpoint {} now unconditional.\n", number);
  return {};
}

Status DebugSession::set_ignore(std::string_view text) {
  if (text.empty()) return fail("Argument required (a breakpoint number).");
  debug::Breakpoint* point = TRY(take_point(text));
  if (text.empty()) return fail("Second argument (specified ignore-count) is missing.");
  if (point->message)
    return fail("breakpoint {} is at messages, none of which is passed over; 'run to recv 3 of p1->p2' goes to the third",
                point->number);
  int64_t count = TRY(ask_for_steps(text));
  point->ignored = count < 0 ? 0 : static_cast<uint64_t>(count);
  if (point->ignored == 0) {
    fmt::print("Will stop next time breakpoint {} is reached.\n", point->number);
  } else {
    fmt::print("Will ignore next {} crossing{} of breakpoint {}.\n", point->ignored, point->ignored == 1 ? "" : "s",
               point->number);
  }
  return {};
}

/// continue N.
Status DebugSession::pass_over(std::string_view text) {
  std::optional<int64_t> count = take_number(text);
  if (!count || !text.empty() || *count < 1) return fail("how often? for example: continue 3");
  std::vector<int> numbers = breakpoints_->hit_by(focus_);
  if (numbers.empty()) {
    fmt::print("Not stopped at any breakpoint; argument ignored.\n");
    return {};
  }
  TRY(breakpoints_->find(numbers[0]))->ignored = static_cast<uint64_t>(*count - 1);
  fmt::print("Will ignore next {} crossing{} of breakpoint {}.  Continuing.\n", *count - 1, *count == 2 ? "" : "s",
             numbers[0]);
  return {};
}

/// Where the runtime has frames between those of the program, gdb must not stop at them. They are only where functions of
/// libc have been replaced.
Status DebugSession::select_frame(const std::string& command, std::string_view text) {
  std::string_view rest = text;
  if (rest.starts_with("level ")) rest = shell::trim(rest.substr(6));
  std::optional<int64_t> number = rest.empty() && command != "frame" ? 1 : take_number(rest);
  bool ours = world_.recording.manifest().parallel && number && rest.empty() && *number >= 0;
  if (!ours) return hand_to_gdb(text.empty() ? command : fmt::format("{} {}", command, text));
  if (command == "frame") return hand_to_gdb(fmt::format("pastcone-level {}", *number));
  return hand_to_gdb(fmt::format("pastcone-move {}", command == "up" ? *number : -*number));
}

}  // namespace pastcone::cli

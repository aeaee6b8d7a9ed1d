// Commands of `pastcone debug` about breakpoints that there are, and about watchpoints, which are gdb's.
#include <charconv>
#include <cstring>

#include "pastcone/cli/debug_session.h"

namespace pastcone::cli {
namespace {

constexpr int kMostBurnt = 100'000;

/// Takes a number off the front; what is left has no blanks around it.
std::optional<int64_t> take_number(std::string_view& text) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  bool whole = end == text.data() + text.size() || *end == ' ' || *end == '\t';
  if (error != std::errc() || !whole) return {};
  text = shell::trim(text.substr(static_cast<size_t>(end - text.data())));
  return number;
}

/// The number in "Hardware watchpoint 3: x".
std::optional<int> watch_number(std::string_view text) {
  constexpr std::string_view kWord = "atchpoint ";
  size_t at = text.find(kWord);
  if (at == std::string_view::npos) return {};
  int number = 0;
  const char* from = text.data() + at + kWord.size();
  if (std::from_chars(from, text.data() + text.size(), number).ec != std::errc()) return {};
  return number;
}

}  // namespace

void DebugSession::bind_points(shell::Commands& commands) {
  for (const char* name : {"watch", "rwatch", "awatch"})
    commands.bind(name, [this, name](std::string_view text) { return set_watch(name, text); });
  commands.bind("condition", [this](std::string_view text) { return set_condition(text); });
  commands.bind("ignore", [this](std::string_view text) { return set_ignore(text); });
  commands.bind("thread", [this](std::string_view text) { return select_thread(text); });
}

/// They are gdb's, with the next of our numbers: gdb's are used up as far as they are behind.
Status DebugSession::set_watch(const std::string& command, std::string_view text) {
  gdb::Gdb* gdb = TRY(seats_->look_at(focus_));
  int wanted = breakpoints_->last_number() + 1, &burnt = gdb_numbers_[gdb->pid()];
  for (int i = 0; burnt < wanted - 1 && i < kMostBurnt; ++i) {
    gdb::Answer answer = TRY(gdb->run("-break-insert *0"));
    if (!answer.good) break;
    std::string number = answer.results["bkpt"]["number"].text;
    TRY(gdb->run("-break-delete " + number));
    burnt = std::atoi(number.c_str());
  }
  std::string shown = TRY(ask_gdb(fmt::format("{} {}", command, text)));
  fmt::print("{}", shown);
  std::optional<int> number = watch_number(shown);
  if (!number) return {};
  burnt = *number;
  debug::Breakpoint watch;
  watch.number = *number;
  watch.process = focus_.process();
  watch.watch = command;
  watch.location = std::string(text);
  breakpoints_->add_watch(std::move(watch));
  return {};
}

void DebugSession::note_deleted_watches(std::string_view text) {
  for (size_t at; (at = text.find("atchpoint ")) != std::string_view::npos;) {
    text.remove_prefix(at);
    std::string_view line = text.substr(0, text.find('\n'));
    if (auto number = watch_number(line); number && line.find(" deleted ") != std::string_view::npos)
      (void)breakpoints_->remove(*number);
    text.remove_prefix(line.size());
  }
}

Status DebugSession::remove_point(int number) {
  debug::Breakpoint* point = TRY(breakpoints_->find(number));
  if (!point->watch.empty()) TRY(seats_->tell(*point->process, fmt::format("delete {}", number)));
  return breakpoints_->remove(number);
}

Status DebugSession::enable_point(int number, bool enabled) {
  debug::Breakpoint* point = TRY(breakpoints_->find(number));
  if (!point->watch.empty())
    TRY(seats_->tell(*point->process, fmt::format("{} {}", enabled ? "enable" : "disable", number)));
  point->enabled = enabled;
  breakpoints_->changed();
  return {};
}

Status DebugSession::set_condition(std::string_view text) {
  if (text.empty()) return fail("Argument required (breakpoint number).");
  std::optional<int64_t> number = take_number(text);
  if (!number) return fail("Bad breakpoint argument: '{}'", text);
  debug::Breakpoint* point = TRY(breakpoints_->find(static_cast<int>(*number)));
  if (!point->watch.empty()) {
    gdb::Answer answer = TRY(seats_->tell(*point->process, fmt::format("condition {} {}", *number, text)));
    if (!answer.good) return fail("{}", answer.error);
  }
  TRY_STATUS(breakpoints_->set_condition(static_cast<int>(*number), std::string(text)));
  if (text.empty()) fmt::print("Breakpoint {} now unconditional.\n", *number);
  return {};
}

Status DebugSession::set_ignore(std::string_view text) {
  if (text.empty()) return fail("Argument required (a breakpoint number).");
  std::optional<int64_t> number = take_number(text);
  if (!number) return fail("Bad breakpoint argument: '{}'", text);
  debug::Breakpoint* point = TRY(breakpoints_->find(static_cast<int>(*number)));
  std::optional<int64_t> count = text.empty() ? std::nullopt : take_number(text);
  if (!count || !text.empty()) return fail("Second argument (specified ignore-count) is missing.");
  if (!point->watch.empty()) TRY(seats_->tell(*point->process, fmt::format("ignore {} {}", *number, *count)));
  point->ignored = *count < 0 ? 0 : static_cast<uint64_t>(*count);
  if (point->ignored == 0) {
    fmt::print("Will stop next time breakpoint {} is reached.\n", *number);
  } else {
    fmt::print("Will ignore next {} crossing{} of breakpoint {}.\n", point->ignored, point->ignored == 1 ? "" : "s",
               *number);
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

Status DebugSession::select_thread(std::string_view text) {
  std::string_view rest = text;
  std::optional<int64_t> number = take_number(rest);
  if (!number || !rest.empty()) return hand_to_gdb(text.empty() ? "thread" : fmt::format("thread {}", text));
  ThreadId thread(focus_.process(), TRY(seats_->thread_numbered(focus_, *number)));
  focus_ = thread;
  gdb::Gdb* gdb = TRY(seats_->look_at(thread));
  fmt::print("[Switching to thread {} ({})]\n{}", *number, thread, TRY(gdb->frame_text()));
  return {};
}

}  // namespace pastcone::cli

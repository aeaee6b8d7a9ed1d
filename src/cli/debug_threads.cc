// Commands of `pastcone debug` about the threads of the process in focus. gdb numbers them as it comes to see
// them, which is another order in each session; here p1.3 is number 3, wherever one stands.
#include <algorithm>
#include <regex>

#include "pastcone/cli/debug_arguments.h"
#include "pastcone/cli/debug_session.h"
#include "pastcone/shell/commands.h"

namespace pastcone::cli {
namespace {

/// 3, or 5-7.
bool is_thread_list(std::string_view word) {
  return !word.empty() && word[0] >= '0' && word[0] <= '9' &&
         word.find_first_not_of("0123456789-") == std::string_view::npos;
}

}  // namespace

void DebugSession::bind_threads(shell::Commands& commands) {
  commands.bind("thread", [this](std::string_view text) { return select_thread(text); });
}

Status DebugSession::select_thread(std::string_view text) {
  std::string_view rest = text, word = text.substr(0, text.find(' '));
  if (!word.empty() && std::string_view("apply").starts_with(word))
    return apply_to_threads(shell::trim(text.substr(word.size())));
  std::optional<int64_t> number = take_number(rest);
  if (!number || !rest.empty()) return hand_to_gdb(text.empty() ? "thread" : fmt::format("thread {}", text));
  ThreadId thread(focus_.process(), TRY(thread_numbered(focus_.process(), *number)));
  gdb::Gdb* gdb = TRY(seats_->look_at(thread));
  focus_ = thread;
  fmt::print("[Switching to thread {} ({})]\n{}", *number, thread, TRY(gdb->frame_text()));
  return {};
}

Result<uint32_t> DebugSession::thread_numbered(ProcessId process, int64_t number) const {
  bool may_be = number > 0 && number <= UINT32_MAX;
  auto found = static_cast<uint32_t>(number);
  if (!may_be || engine_->now().tid(ThreadId(process, found)) == 0) return fail("Unknown thread {}.", number);
  return found;
}

/// With the numbers that gdb has for them.
Status DebugSession::apply_to_threads(std::string_view text) {
  std::string given;
  for (std::string_view rest = text; is_thread_list(rest.substr(0, rest.find(' ')));) {
    size_t end = std::min(rest.find(' '), rest.size());
    std::string_view list = rest.substr(0, end);
    rest = shell::trim(rest.substr(end));
    for (int number : TRY(parse_numbers(list, [](std::string_view) { return fail("not a number"); }))) {
      TRY(thread_numbered(focus_.process(), number));
      given += fmt::format("{} ", TRY(seats_->number_in_gdb(focus_, static_cast<uint32_t>(number))));
    }
    text = rest;
  }
  return hand_to_gdb(fmt::format("thread apply {}{}", given, text));
}

/// What gdb prints of threads, with the numbers that they have here: in the list, and where a command is applied.
std::string DebugSession::with_thread_numbers(const std::string& printed) {
  static const std::regex kListed("([* ] )([0-9]+)( +Thread ([0-9]+) \"p[0-9]+\\.[0-9]+\".*)");
  static const std::regex kApplied("Thread ([0-9]+)( \\(Thread ([0-9]+) \"p[0-9]+\\.[0-9]+\"\\):.*)");
  if (printed.find("Thread ") == std::string::npos) return printed;
  std::vector<std::pair<int, std::string>> listed;  // side by side
  std::string out;
  auto put_list = [&] {
    std::ranges::stable_sort(listed, {}, [](const auto& line) { return line.first; });
    for (const auto& [number, line] : listed) out += line;
    listed.clear();
  };
  for (size_t at = 0; at < printed.size();) {
    size_t end = std::min(printed.find('\n', at), printed.size() - 1) + 1;
    std::string line = printed.substr(at, end - at), text = line.substr(0, line.find_last_not_of('\n') + 1);
    at = end;
    std::smatch parts;
    if (std::regex_match(text, parts, kListed)) {
      std::string number = parts[4].str();
      auto width = static_cast<size_t>(parts[2].length());
      listed.emplace_back(std::stoi(number), fmt::format("{}{:<{}}{}\n", parts[1].str(), number, width, parts[3].str()));
      continue;
    }
    put_list();
    out += std::regex_match(text, parts, kApplied) ? fmt::format("Thread {}{}\n", parts[3].str(), parts[2].str()) : line;
  }
  put_list();
  return out;
}

}  // namespace pastcone::cli

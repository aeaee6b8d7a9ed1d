// Commands of `pastcone debug` that find out themselves which places or breakpoints are meant: clear, rbreak,
// catch.
#include <algorithm>

#include "pastcone/cli/debug_arguments.h"
#include "pastcone/cli/debug_completion.h"
#include "pastcone/cli/debug_session.h"

namespace pastcone::cli {

void DebugSession::bind_places(shell::Commands& commands) {
  shell::Completer places = like_in_gdb(completion_by(*engine_, *seats_, focus_), "break");
  commands.bind(
      "clear", [this](std::string_view text) { return clear(text); }, places);
  commands.bind(
      "rbreak", [this](std::string_view text) { return set_breaks_like(text); }, places);
  auto kinds = shell::word_completer([] { return std::vector<std::string>{"catch", "rethrow", "throw"}; });
  commands.bind(
      "catch", [this](std::string_view text) { return set_catch(text, false); }, kinds);
  commands.bind(
      "tcatch", [this](std::string_view text) { return set_catch(text, true); }, kinds);
}

Status DebugSession::clear(std::string_view text) {
  std::string location(text);
  if (location.empty()) location = "+0";  // the line that is shown
  TRY_STATUS(settle(location, focus_));
  if (engine_->now().pid(focus_.process()) == 0) return fail("{} does not run now", focus_.process());
  TRY_STATUS(engine_->now().freeze(focus_.process()));
  std::vector<debug::Site> wanted = TRY(images_->find(focus_.process(), location, ""));
  auto is_wanted = [&](const debug::Site& site) {
    return std::ranges::any_of(wanted, [&](const debug::Site& other) {
      bool line = !site.line.empty() && site.file == other.file && site.line == other.line;
      return site.address == other.address || line;
    });
  };
  std::vector<int> found;
  for (const auto& [number, point] : breakpoints_->all())
    if (breakpoints_->meant_for(point, focus_.process()) &&
        std::ranges::any_of(breakpoints_->sites_of(point), is_wanted))
      found.push_back(number);
  if (found.empty()) return fail("No breakpoint at {}.", text.empty() ? "this line" : text);
  fmt::print("Deleted breakpoint{}", found.size() == 1 ? "" : "s");
  for (int number : found) fmt::print(" {}", number);
  fmt::print("\n");
  for (int number : found) TRY_STATUS(remove_point(number));
  return {};
}

Status DebugSession::set_breaks_like(std::string_view pattern) {
  constexpr size_t kMost = 200;
  gdb::Gdb* gdb = TRY(seats_->look_at(focus_));
  std::string name = pattern.empty() ? std::string(".") : std::string(pattern);
  gdb::Answer answer = TRY(gdb->run(fmt::format("-symbol-info-functions --name {}", gdb::c_string(name))));
  if (!answer.good) return fail("{}", answer.error);
  std::vector<std::string> locations;
  for (const auto& [key, file] : answer.results["symbols"]["debug"].items)
    for (const auto& [other, symbol] : file["symbols"].items)
      locations.push_back(fmt::format("{}:{}", file["filename"].text, symbol["line"].text));
  if (locations.empty()) return fail("no function with debug information is called like {}", name);
  if (locations.size() > kMost)
    return fail("{} functions are called like {}; say more of the name", locations.size(), name);
  for (const std::string& location : locations) TRY_STATUS(set_break(location, false));
  return {};
}

/// Exceptions are functions of the C++ library; what the kernel does is known by the recording's events.
Status DebugSession::set_catch(std::string_view what, bool temporary) {
  PointPlace place = split_place(what);
  auto set = [&](std::string function) {
    if (!place.condition.empty()) function += " if " + place.condition;
    return set_break(function, temporary);
  };
  if (place.location == "throw") return set("__cxa_throw");
  if (place.location == "catch") return set("__cxa_begin_catch");
  if (place.location == "rethrow") return set("__cxa_rethrow");
  return fail(
      "'catch' knows throw, catch and rethrow; calls and signals are events: 'events' lists them, 'run to "
      "{}:20' goes "
      "to one, and 'break' stops in the function that handles a signal",
      focus_.process());
}

}  // namespace pastcone::cli

#include "pastcone/debug/settings.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "pastcone/debug/source_frame.h"

namespace pastcone::debug {
namespace {

constexpr size_t kMost = 1000;

/// What is shown at each stop of a process.
bool is_display(std::string_view command) {
  constexpr std::string_view kAll[] = {"display", "undisplay", "delete display", "disable display",
                                       "enable display"};
  return std::ranges::any_of(kAll, [&](std::string_view words) {
    if (!command.starts_with(words)) return false;
    std::string_view rest = command.substr(words.size());
    return rest.empty() || rest[0] == ' ' || rest[0] == '/';
  });
}

/// Whether it is about gdb, not about the process: `set print pretty on`, python.
bool is_for_all(std::string_view command) {
  std::string_view word = command.substr(0, command.find_first_of(" \t"));
  if (word == "python" || word == "py") {
    // Definitions, that is; not what is done with the process.
    std::string_view code = command.substr(word.size());
    code.remove_prefix(std::min(code.find_first_not_of(" \t"), code.size()));
    return code.empty() || code.starts_with("import ") || code.starts_with("from ");
  }
  if (word != "set") {
    constexpr std::string_view kOthers[] = {"skip", "directory", "alias", "macro", "unset"};
    return std::ranges::find(kOthers, word) != std::end(kOthers);
  }
  std::string_view rest = command.substr(word.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  // `set x = 1`, `set var x = 1`, `set $n = 1` are about the process.
  return !rest.starts_with("var") && rest.find('=') == std::string_view::npos;
}

}  // namespace

std::optional<Setting> Settings::note(ProcessId told, const std::string& command,
                                      const std::vector<std::string>& body) {
  Setting setting{command, body};
  if (!is_for_all(command)) {
    if (is_display(command) && all_.size() < kMost) all_.push_back({command, body, told});
    return {};
  }
  std::erase(all_, setting);
  if (all_.size() < kMost) all_.push_back(setting);
  return setting;
}

void Settings::tell_common(gdb::Gdb& gdb) const {
  for (const Setting& setting : all_)
    if (!setting.process) (void)gdb.console(setting.command, setting.body);
}

void Settings::tell_own(gdb::Gdb& gdb, ProcessId process) const {
  bool first = true;
  for (const Setting& setting : all_) {
    if (setting.process != process) continue;
    if (std::exchange(first, false)) (void)select_source_frame(gdb);  // it may be about its variables
    (void)gdb.console(setting.command, setting.body);
  }
}

}  // namespace pastcone::debug

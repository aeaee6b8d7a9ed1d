#include "pastcone/debug/settings.h"

#include <algorithm>
#include <cctype>
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

std::string variable_set_by(std::string_view command) {
  auto skip = [&](std::string_view word) {
    if (!command.starts_with(word)) return;
    command.remove_prefix(word.size());
    command.remove_prefix(std::min(command.find_first_not_of(" \t"), command.size()));
  };
  if (!command.starts_with("set ")) return {};
  skip("set ");
  skip("variable ");
  skip("var ");
  if (!command.starts_with('$')) return {};
  size_t end = 1;
  while (end < command.size() && (std::isalnum(static_cast<unsigned char>(command[end])) || command[end] == '_')) ++end;
  std::string name(command.substr(1, end - 1));
  // Those of gdb's own begin with _.
  size_t sign = command.find_first_not_of(" \t", end);
  bool assigned = sign != std::string_view::npos && command.find('=', sign) != std::string_view::npos;
  bool own = name.empty() || name[0] == '_' || std::isdigit(static_cast<unsigned char>(name[0]));
  return assigned && !own ? name : std::string();
}

bool is_plain_value(std::string_view text) {
  if (text.size() > 1 && text.starts_with('"') && text.ends_with('"')) return true;
  if (text.starts_with('-')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789.") == std::string_view::npos;
}

Setting Settings::note_variable(const std::string& name, const std::string& value) {
  std::string assigns = fmt::format("set ${} = ", name);
  std::erase_if(all_, [&](const Setting& one) { return one.command.starts_with(assigns); });
  Setting setting{assigns + value, {}, {}};
  if (all_.size() < kMost) all_.push_back(setting);
  return setting;
}

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

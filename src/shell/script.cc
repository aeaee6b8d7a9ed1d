#include "pastcone/shell/script.h"

#include <algorithm>
#include <optional>

#include "pastcone/shell/commands.h"

namespace pastcone::shell {
namespace {

using Kind = Script::Step::Kind;

std::optional<Kind> option_kind(std::string_view name) {
  if (name == "-ex" || name == "--ex" || name == "--eval-command") return Kind::kCommand;
  if (name == "-x" || name == "--x" || name == "--command") return Kind::kFile;
  return std::nullopt;
}

}  // namespace

const char* const kScriptOptionsHelp =
    "  -ex CMD                     do this command first; may be given often\n"
    "  -x FILE                     do the commands of this file, up to the first that fails; in order with "
    "-ex\n"
    "  --batch                     end after them: with status 0 if all went well, 1 if a command failed\n"
    "Then commands are read from stdin. If that is no terminal there is no prompt, and the status at its end "
    "is as with --batch.\n"
    "`quit N` ends with status N; Ctrl-C ends what is not interactive with status 130.\n";

Result<std::vector<std::string>> take_script_options(const std::vector<std::string>& arguments,
                                                     Script& script) {
  std::vector<std::string> rest;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      rest.insert(rest.end(), arguments.begin() + static_cast<ptrdiff_t>(i), arguments.end());
      break;
    }
    if (argument == "--batch" || argument == "-batch") {
      script.batch = true;
      continue;
    }
    size_t equals = argument.starts_with("--") ? argument.find('=') : std::string::npos;
    std::optional<Kind> kind = option_kind(std::string_view(argument).substr(0, equals));
    if (!kind) {
      rest.push_back(argument);
    } else if (equals != std::string::npos) {
      script.steps.push_back({*kind, argument.substr(equals + 1)});
    } else if (i + 1 < arguments.size()) {
      script.steps.push_back({*kind, arguments[++i]});
    } else {
      return fail("{} needs a {} behind it", argument, *kind == Kind::kFile ? "file" : "command");
    }
  }
  return rest;
}

std::vector<ScriptLine> script_lines(std::string_view contents) {
  std::vector<ScriptLine> lines;
  for (size_t number = 1; !contents.empty(); ++number) {
    size_t end = std::min(contents.find('\n'), contents.size());
    std::string_view text = contents.substr(0, end);
    lines.push_back({number, text.substr(0, text.find_last_not_of(" \t\r") + 1)});
    contents.remove_prefix(std::min(end + 1, contents.size()));
  }
  return lines;
}

}  // namespace pastcone::shell

#include "pastcone/cli/debug_help.h"

#include "pastcone/shell/help.h"
#include "pastcone/shell/script.h"

namespace pastcone::cli {
namespace {

using shell::CommandText;

constexpr const char* kIntroduction = R"(# The debugger: all commands

`pastcone debug [REC]` replays a recording under your control. This page is what `help` says in it; it is made from the same
texts, and a test compares them.

The prompt shows which process is in focus and its last event: `(p2:1041)`. Commands that gdb has are gdb's, for the process in
focus; what is not listed here is handed to gdb as it is. Names may be shortened as long as they are unique, and an empty line
repeats commands like `step`. Tab completes, Ctrl-C stops a command that runs, Ctrl-D ends the session. Keys can be changed in
`~/.editrc`; the last 1000 lines are kept in `~/.local/state/pastcone/debug_history` (or under `$XDG_STATE_HOME`).

Commands can be given on the command line, too:

```
)";

/// First words that are no commands by themselves.
const std::vector<CommandText> kPrefixes = {
    {.name = "info", .aliases = "i inf", .summary = "Say what there is.", .gdb = true, .prefix = true},
    {.name = "show", .summary = "Show what the recording knows.", .gdb = true, .prefix = true},
    {.name = "set", .summary = "Change something.", .gdb = true, .prefix = true},
    {.name = "set breakpoint", .summary = "Change how breakpoints are set.", .gdb = true, .prefix = true},
    {.name = "stop", .summary = "Stop when something holds.", .prefix = true},
};

}  // namespace

void add_debug_texts(shell::Commands& commands) {
  for (const auto& texts :
       {kPrefixes, running_texts(), stopping_texts(), looking_texts(), state_texts(), causal_texts()}) {
    for (const CommandText& text : texts) commands.add(text);
  }
}

std::string debug_reference(const shell::Commands& commands) {
  return kIntroduction + std::string(shell::kScriptOptionsHelp) + "```\n\n" + shell::help_markdown(commands);
}

}  // namespace pastcone::cli

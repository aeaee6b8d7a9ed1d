// Help: looking at the process in focus, by gdb.
#include "pastcone/cli/debug_help.h"

namespace pastcone::cli {

using shell::CommandText;
using shell::Repeat;

namespace {
constexpr std::string_view kGroup = "Looking at the process in focus";
}

std::vector<CommandText> looking_texts() {
  return {
      {.name = "print",
       .aliases = "p inspect",
       .group = kGroup,
       .summary = "Print the value of an expression.",
       .usage = "print[/FORMAT] EXPRESSION",
       .example = "(p2:1041) print *client\n"
                  "$1 = {fd = 7, pending = 0}\n"
                  "(p2:1041) p/x flags",
       .text = "FORMAT is gdb's: x for hexadecimal, d, u, t, c, s and so on.\n"
               "Where the process stands in a call that is recorded, functions in the EXPRESSION may do nothing that is, and "
               "what they\n"
               "write is put back.",
       .gdb = true},
      {.name = "x",
       .group = kGroup,
       .summary = "Show memory.",
       .usage = "x[/COUNT FORMAT SIZE] ADDRESS",
       .example = "(p2:1041) x/4xw $sp\n"
                  "(p2:1041) x/s buffer",
       .text = "An empty line afterwards shows what follows.",
       .repeat = Repeat::kBare,
       .gdb = true},
      {.name = "display",
       .group = kGroup,
       .summary = "Print an expression at each stop.",
       .usage = "display[/FORMAT] [EXPRESSION]",
       .example = "(p2:1041) display total",
       .text = "Without an EXPRESSION, the ones there are, now. `undisplay NUMBER` ends it.",
       .gdb = true},
      {.name = "bt",
       .aliases = "backtrace",
       .group = kGroup,
       .summary = "Show the stack: who called whom.",
       .usage = "bt [full] [COUNT]",
       .example = "(p2:1041) bt\n"
                  "#0  handle_request (client=0x5555555592a0) at srv.c:80\n"
                  "#1  main () at srv.c:120",
       .text = "Only the program's functions are in it, not those of pastcone. For all processes at once: "
               "`where`.",
       .gdb = true},
      {.name = "up",
       .group = kGroup,
       .summary = "Select the function that called this one.",
       .usage = "up [N]",
       .example = "(p2:1041) up",
       .repeat = Repeat::kSame,
       .gdb = true},
      {.name = "down",
       .aliases = "dow",
       .group = kGroup,
       .summary = "Select the function that this one called.",
       .usage = "down [N]",
       .example = "(p2:1041) down",
       .repeat = Repeat::kSame,
       .gdb = true},
      {.name = "frame",
       .aliases = "f",
       .group = kGroup,
       .summary = "Select a function of the stack by its number, or show the selected one.",
       .usage = "frame [NUMBER]",
       .example = "(p2:1041) frame 1",
       .gdb = true},
      {.name = "list",
       .aliases = "l",
       .group = kGroup,
       .summary = "Show source lines.",
       .usage = "list [LOCATION]\n"
                "list FIRST,LAST",
       .example = "(p2:1041) list srv.c:80",
       .text = "An empty line afterwards shows what follows.",
       .repeat = Repeat::kBare,
       .gdb = true},
      {.name = "info locals",
       .group = kGroup,
       .summary = "Print the local variables of the selected function.",
       .usage = "info locals",
       .example = "(p2:1041) info locals\n"
                  "n = 17",
       .gdb = true},
      {.name = "info threads",
       .group = kGroup,
       .summary = "List the threads of the process in focus.",
       .usage = "info threads",
       .example = "(p2:1041) info threads",
       .text = "`focus p2.3` goes to one.",
       .gdb = true},
      {.name = "thread",
       .aliases = "t",
       .group = kGroup,
       .summary = "Look at another thread of the process in focus.",
       .usage = "thread [NUMBER]\n"
                "thread apply all COMMAND",
       .example = "(p2:1041) thread 2",
       .text = "As `focus p2.2`."},
      {.name = "info registers",
       .aliases = "r",
       .group = kGroup,
       .summary = "Print the registers.",
       .usage = "info registers [NAME…]",
       .example = "(p2:1041) info registers rip",
       .gdb = true},
      {.name = "python",
       .aliases = "py",
       .group = kGroup,
       .summary = "Run Python in gdb.",
       .usage = "python [STATEMENT]",
       .example = "(p2:1041) python print(gdb.selected_frame().name())",
       .text = "Without a STATEMENT lines follow, up to `end`. It runs in the gdb of the process in focus, and, as "
               "`set` does for\n"
               "gdb's settings, again in that of every other process that is looked at.",
       .gdb = true},
      {.name = "set var",
       .aliases = "variable",
       .group = kGroup,
       .summary = "Change a variable, for an experiment.",
       .usage = "set var NAME = EXPRESSION",
       .example = "(p2:1041) set var retries = 0",
       .text = "From then on the run is no longer the recorded one, and may diverge; a warning says so. "
               "Going back, or `restart`,\n"
               "undoes it.",
       .gdb = true},
  };
}

}  // namespace pastcone::cli

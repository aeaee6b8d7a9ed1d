// Help: commands that let the run go on.
#include "pastcone/cli/debug_help.h"

namespace pastcone::cli {

using shell::CommandText;
using shell::Repeat;

namespace {
constexpr std::string_view kGroup = "Running";
}

std::vector<CommandText> running_texts() {
  return {
      {.name = "run to",
       .group = kGroup,
       .summary = "Go to an event: all that had to happen before it, and nothing else.",
       .usage = "run to EVENT\n"
                "run to obj OBJECT#ACCESS\n"
                "run to send N of pA->pB\n"
                "run to recv N of pA->pB",
       .example = "(p1:1) run to p3:1041\n"
                  "(p1:1) run to obj 4#17\n"
                  "(p1:1) run to recv 2 of p1->p3",
       .text = "Every process stops at the frontier of the event's past cone, just after its last event in "
               "it and before\n"
               "anything of the program that follows. OBJECT#ACCESS is an access to a shared object, counted "
               "from 0 in each\n"
               "object, as `show obj` lists them; N counts the messages from one process to another from 1. "
               "The state\n"
               "is the same at every run. With breakpoints set the run may stop earlier, at a state that is "
               "always the same, too.\n"
               "A process that comes to a bad end on the way is named, and does not stop it, as `continue` "
               "would.\n"
               "If somebody has gone too far already, the run begins anew by itself."},
      {.name = "continue",
       .aliases = "c fg",
       .group = kGroup,
       .summary = "Let the process in focus run on, and the others only as far as it needs them.",
       .usage = "continue [N]",
       .example = "(p2:1041) continue",
       .text = "It runs until a breakpoint, a watchpoint, a predicate of `stop if`, a crash or its end. With "
               "N, the next N - 1\n"
               "stops at the same breakpoint are passed over.",
       .repeat = Repeat::kSame},
      {.name = "continue all",
       .group = kGroup,
       .summary = "Let all processes run on, until one of them stops or the recording ends.",
       .usage = "continue all",
       .example = "(p2:1041) continue all",
       .text = "The others stop where they can do nothing without the one that stopped. Where a predicate of "
               "`stop if` is set, to\n"
               "where it holds.",
       .repeat = Repeat::kSame},
      {.name = "step",
       .aliases = "s",
       .group = kGroup,
       .summary = "Run the process in focus to another source line, into functions too.",
       .usage = "step [N]",
       .example = "(p2:1041) step",
       .text =
           "If the line waits for another process, that one runs as far as needed. N times, if N is given.",
       .repeat = Repeat::kSame},
      {.name = "next",
       .aliases = "n",
       .group = kGroup,
       .summary = "Run the process in focus to another source line of the same function.",
       .usage = "next [N]",
       .example = "(p2:1041) next\n"
                  "43\t  reply(client, value);",
       .text = "As `step`, but functions that are called run to their end.",
       .repeat = Repeat::kSame},
      {.name = "finish",
       .aliases = "fin",
       .group = kGroup,
       .summary = "Run the process in focus until the selected function returns.",
       .usage = "finish",
       .example = "(p2:1041) finish\n"
                  "Value returned is $1 = 17",
       .text = "Its value is printed.",
       .repeat = Repeat::kSame},
      {.name = "until",
       .aliases = "u",
       .group = kGroup,
       .summary = "Run the process in focus past the present line, or to a place in this function.",
       .usage = "until [LOCATION]",
       .example = "(p2:1041) until 57",
       .text = "Without a LOCATION as `next`, but it does not go back in a loop.",
       .repeat = Repeat::kSame},
      {.name = "advance",
       .group = kGroup,
       .summary = "Run the process in focus to a place.",
       .usage = "advance LOCATION",
       .example = "(p2:1041) advance srv.c:57",
       .text = "As `until LOCATION`, also to other functions.",
       .repeat = Repeat::kSame},
      {.name = "stepi",
       .aliases = "si",
       .group = kGroup,
       .summary = "Run one machine instruction of the process in focus.",
       .usage = "stepi [N]",
       .example = "(p2:1041) stepi\n"
                  "0x000055555555518d\t42\t  total += n;",
       .repeat = Repeat::kSame},
      {.name = "nexti",
       .aliases = "ni",
       .group = kGroup,
       .summary = "Run one machine instruction, and what it calls.",
       .usage = "nexti [N]",
       .example = "(p2:1041) nexti",
       .repeat = Repeat::kSame},
      {.name = "run",
       .aliases = "r",
       .group = kGroup,
       .summary = "Begin again, and let all processes run until something stops one of them.",
       .usage = "run",
       .example = "(p2:1041) break all server: srv.c:80\n"
                  "(p2:1041) run",
       .text = "As `restart` and `continue all`; where a predicate of `stop if` is set, to where it holds "
               "first."},
      {.name = "start",
       .group = kGroup,
       .summary = "Begin again, and stop where the first program's main begins.",
       .usage = "start",
       .example = "(p2:1041) start\n"
                  "Temporary breakpoint 1, main () at srv.c:40"},
      {.name = "restart",
       .group = kGroup,
       .summary = "Go back to the beginning of the recording.",
       .usage = "restart",
       .example = "(p2:1041) restart",
       .text = "Breakpoints, predicates and displays stay."},
  };
}

}  // namespace pastcone::cli

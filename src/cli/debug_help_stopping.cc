// Help: breakpoints, watchpoints and predicates.
#include "pastcone/cli/debug_help.h"

namespace pastcone::cli {

using shell::CommandText;

namespace {
constexpr std::string_view kGroup = "Stopping";
}

std::vector<CommandText> stopping_texts() {
  return {
      {.name = "break",
       .aliases = "b br brea hbreak hb",
       .group = kGroup,
       .summary = "Stop the process in focus when it comes to a place.",
       .usage = "break [LOCATION] [thread NUMBER] [if CONDITION]",
       .example = "(p2:1041) break srv.c:80 if fd == 7\n"
                  "Breakpoint 1 at 0x1189: file srv.c, line 80.",
       .text = "LOCATION is FILE:LINE, LINE, FUNCTION or *ADDRESS, as in gdb; without one, where the process "
               "is. Breakpoints\n"
               "survive fork, exec and going back. It is for this process, not for its children: those `break all` "
               "stops, too. The\n"
               "others stop where they can do nothing without this process, always in the same state.\n"
               "What only a library has that is loaded later (dlopen) is pending, and set when it has been loaded. The "
               "recording\n"
               "knows which those are, so nobody is asked, as gdb does: what none of them has is refused."},
      {.name = "break all",
       .group = kGroup,
       .summary = "Stop any process of a program that comes to a place.",
       .usage = "break all LOCATION [if CONDITION]\n"
                "break all PROGRAM: LOCATION [if CONDITION]",
       .example = "(p2:1041) break all server: srv.c:80",
       .text = "It holds for processes that are there and for those to come. Without PROGRAM it is for every "
               "program that has\n"
               "the LOCATION."},
      {.name = "break send",
       .group = kGroup,
       .summary = "Stop when a message is sent.",
       .usage = "break send from pA\n"
                "break send pA->pB",
       .example = "(p2:1041) break send from p3",
       .text = "It stops just after the send, so that `follow` can go along with the message."},
      {.name = "break recv",
       .group = kGroup,
       .summary = "Stop when a message is received.",
       .usage = "break recv pA->pB\n"
                "break recv to pB",
       .example = "(p2:1041) break recv p1->p2",
       .text = "It stops just after the receive, so that `cause` can go back to the sender."},
      {.name = "tbreak",
       .aliases = "tb thbreak thb",
       .group = kGroup,
       .summary = "Set a breakpoint that is deleted when it was hit.",
       .usage = "tbreak [LOCATION] [if CONDITION]",
       .example = "(p2:1041) tbreak handle_request",
       .text = "LOCATION and CONDITION are as for `break`."},
      {.name = "tbreak all",
       .group = kGroup,
       .summary = "The same for any process of a program.",
       .usage = "tbreak all [PROGRAM:] LOCATION [if CONDITION]",
       .example = "(p2:1041) tbreak all server: srv.c:80"},
      {.name = "tbreak send",
       .group = kGroup,
       .summary = "The same for the next message that is sent.",
       .usage = "tbreak send from pA\n"
                "tbreak send pA->pB",
       .example = "(p2:1041) tbreak send from p3"},
      {.name = "tbreak recv",
       .group = kGroup,
       .summary = "The same for the next message that is received.",
       .usage = "tbreak recv pA->pB\n"
                "tbreak recv to pB",
       .example = "(p2:1041) tbreak recv p1->p2"},
      {.name = "rbreak",
       .group = kGroup,
       .summary = "Set a breakpoint in every function whose name matches.",
       .usage = "rbreak REGEX",
       .example = "(p2:1041) rbreak ^handle_"},
      {.name = "catch",
       .group = kGroup,
       .summary = "Stop the process in focus where a C++ exception is thrown or caught.",
       .usage = "catch throw|catch|rethrow [if CONDITION]",
       .example = "(p2:1041) catch throw",
       .text = "It is a breakpoint in the library's function. Calls and signals are events of the recording: `events` lists\n"
               "them, and `run to` goes to one."},
      {.name = "tcatch",
       .group = kGroup,
       .summary = "The same, once.",
       .usage = "tcatch throw|catch|rethrow [if CONDITION]",
       .example = "(p2:1041) tcatch throw"},
      {.name = "set breakpoint pending",
       .group = kGroup,
       .summary = "Set breakpoints even at places that nothing in the recording has.",
       .usage = "set breakpoint pending on|off|auto",
       .example = "(p2:1041) set breakpoint pending on\n"
                  "(p2:1041) break made_at_run_time\n"
                  "Breakpoint 3 (made_at_run_time) pending.",
       .text = "Else, as at first, they are refused. What a library has that is loaded later is not: see `break`."},
      {.name = "watch",
       .group = kGroup,
       .summary = "Stop the process in focus when a value changes.",
       .usage = "watch [-l] EXPRESSION [if CONDITION]",
       .example = "(p2:1041) watch total\n"
                  "Hardware watchpoint 2: total",
       .text = "It stops the process whoever makes it run, and stays set when you go back. A watchpoint on a local variable\n"
               "ends with its function. -l: the memory that the expression is now, whatever becomes of its names.\n"
               "In memory that processes share only this one's own writes are seen; for all of them say `stop if p2: …`."},
      {.name = "rwatch",
       .group = kGroup,
       .summary = "Stop the process in focus when a value is read.",
       .usage = "rwatch [-l] EXPRESSION [if CONDITION]",
       .example = "(p2:1041) rwatch total\n"
                  "Hardware read watchpoint 2: total"},
      {.name = "awatch",
       .group = kGroup,
       .summary = "Stop the process in focus when a value is read or written.",
       .usage = "awatch [-l] EXPRESSION [if CONDITION]",
       .example = "(p2:1041) awatch total\n"
                  "Hardware access (read/write) watchpoint 2: total"},
      {.name = "condition",
       .group = kGroup,
       .summary = "Stop at a breakpoint only if something holds.",
       .usage = "condition NUMBER [EXPRESSION]",
       .example = "(p2:1041) condition 1 n == 4",
       .text = "Without an EXPRESSION it always stops again."},
      {.name = "ignore",
       .group = kGroup,
       .summary = "Pass over a breakpoint so many times.",
       .usage = "ignore NUMBER COUNT",
       .example = "(p2:1041) ignore 1 2\n"
                  "Will ignore next 2 crossings of breakpoint 1."},
      {.name = "commands",
       .group = kGroup,
       .summary = "Do commands each time a breakpoint has stopped.",
       .usage = "commands [NUMBER…]",
       .example = "(p2:1041) commands 1\n"
                  ">silent\n"
                  ">print fd\n"
                  ">continue\n"
                  ">end",
       .text = "They follow, one in a line, up to `end`; without a NUMBER they are for the breakpoint set last. All "
               "commands may\n"
               "be among them; after one that lets the process run no more are done. If the first is `silent`, the "
               "stop itself\n"
               "is not shown.",
       .gdb = true},
      {.name = "clear",
       .aliases = "cl",
       .group = kGroup,
       .summary = "Delete the breakpoints at a place.",
       .usage = "clear [LOCATION]",
       .example = "(p2:1041) clear srv.c:80\n"
                  "Deleted breakpoint 1",
       .text = "Without a LOCATION, those of the present line."},
      {.name = "delete",
       .aliases = "d del",
       .group = kGroup,
       .summary = "Delete breakpoints, watchpoints and predicates.",
       .usage = "delete [NUMBER…]\n"
                "delete display [NUMBER…]",
       .example = "(p2:1041) delete 2 4-6",
       .text = "Without a NUMBER, all of them. A NUMBER may be a range, and $bpnum is the breakpoint set last."},
      {.name = "disable",
       .aliases = "dis disa",
       .group = kGroup,
       .summary = "Keep breakpoints and predicates, but do not stop at them.",
       .usage = "disable [NUMBER…]\n"
                "disable display [NUMBER…]",
       .example = "(p2:1041) disable 2",
       .text = "Without a NUMBER, all of them."},
      {.name = "enable",
       .aliases = "en",
       .group = kGroup,
       .summary = "Stop again at breakpoints and predicates that were disabled.",
       .usage = "enable [NUMBER…]\n"
                "enable once|delete [NUMBER…]\n"
                "enable count COUNT [NUMBER…]\n"
                "enable display [NUMBER…]",
       .example = "(p2:1041) enable once 2",
       .text = "Without a NUMBER, all of them. `once`: it is disabled when it has stopped, `delete`: deleted, `count`: disabled\n"
               "when it has stopped so often."},
      {.name = "info breakpoints",
       .aliases = "b",
       .group = kGroup,
       .summary = "List breakpoints and watchpoints: where, in which processes, how often hit.",
       .usage = "info breakpoints [NUMBER…]",
       .example = "(p2:1041) info breakpoints"},
      {.name = "info watchpoints",
       .group = kGroup,
       .summary = "List watchpoints only.",
       .usage = "info watchpoints",
       .example = "(p2:1041) info watchpoints"},
      {.name = "stop if",
       .group = kGroup,
       .summary = "Stop at the first state in which something holds in several processes at once.",
       .usage = "stop if PREDICATE",
       .example = "(p1:1) stop if p1: x == 1 && p4: x == 1\n"
                  "(p1:1) stop if p1: ready at srv.c:80 && any server: clients > 3\n"
                  "(p1:1) stop if p1: sent == 1 -> p2: value == 0",
       .text = "A simple predicate is PROCESS: EXPRESSION, in the program's language; behind it may stand "
               "`at FILE:LINE` (it holds\n"
               "only while the process stands there) or `in FUNCTION` (its variables are that function's, "
               "once they are written).\n"
               "PROCESS is p2, a process id, or `any PROGRAM`, which is a disjunction over the processes of that "
               "name. && joins\n"
               "them: the run stops at the least state in which all hold, in the middle of a computation if "
               "need be, and no\n"
               "process has done more than that. || joins them, too; then the run stops after it, and all "
               "least states are\n"
               "listed to be gone to.\n"
               "`A -> B` stops at the first B that has an A in its past. One predicate is primary and stops "
               "exactly; see `switch`.\n"
               "Values of two processes cannot be compared (p1: x == p2: x): there is no first such state to "
               "stop at. Compare\n"
               "each with a constant, or `trace` both. A predicate that never held is reported at the end of "
               "the run.\n"
               "EXPRESSION may call functions that do nothing that is recorded; what they write is put back. A "
               "thread's own\n"
               "variables are those of p2.3, or of the first thread of p2.\n"
               "Of memory that p2 shares with other processes, what they write counts, too; the list says who has "
               "written.\n"
               "Breakpoints on the way to the state come first; `continue` goes on to it."},
      {.name = "trace",
       .group = kGroup,
       .summary = "Print values each time something holds, and go on.",
       .usage = "trace EXPRESSION, … if PREDICATE",
       .example = "(p1:1) trace p1: x, p4: x if p1: x > 0 && p4: x > 0",
       .text = "EXPRESSION is PROCESS: EXPRESSION, PREDICATE is as for `stop if`."},
      {.name = "switch",
       .group = kGroup,
       .summary = "Choose the primary predicate.",
       .usage = "switch NUMBER",
       .example = "(p1:1) switch 2",
       .text = "Only the primary one stops exactly at its first state. The others are reported when they "
               "hold, and the run stops\n"
               "after it."},
      {.name = "info predicates",
       .group = kGroup,
       .summary = "List the predicates of `stop if` and `trace`, and how often each was come to.",
       .usage = "info predicates",
       .example = "(p1:1) info predicates"},
  };
}

}  // namespace pastcone::cli

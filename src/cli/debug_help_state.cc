// Help: all processes, and what the recording knows.
#include "pastcone/cli/debug_help.h"

namespace pastcone::cli {

using shell::CommandText;

namespace {
constexpr std::string_view kGroup = "All processes";
}

std::vector<CommandText> state_texts() {
  return {
      {.name = "focus",
       .group = kGroup,
       .summary = "Look at another process or thread.",
       .usage = "focus [PROCESS | THREAD]",
       .example = "(p2:1041) focus p3\n"
                  "(p3:17) focus p2.3",
       .text = "Nothing moves. Without an argument it says which one is in focus."},
      {.name = "where",
       .group = kGroup,
       .summary = "Show all processes at once.",
       .usage = "where",
       .example = "(p1:42) where\n"
                  "* p1:42      dl.c:10 in main; sleeps in wait4: waits for p2 or p3 (end)\n"
                  "  p2:2       dl.c:4 in ask; sleeps in read, fd 3: waits for p1 or p3 (message, channel 2)\n"
                  "  p3:2       dl.c:4 in ask; sleeps in read, fd 5: waits for p1 or p2 (message, channel 4)\n"
                  "deadlock: p2 waits for p3 (message, channel 2), p3 waits for p2 (message, channel 4)\n"
                  "so p1 never goes on either",
       .text = "For each: its event, function and line, what its next event waits for and for whom. Where the "
               "recording ends while\n"
               "it sleeps: in which call, and who could wake it. A cycle of such waits is named as a deadlock; "
               "`continue all`\n"
               "goes to the end. (gdb's `where` is `bt` here.)"},
      {.name = "ps",
       .group = kGroup,
       .summary = "List the processes of the recording, and how far each has come.",
       .usage = "ps",
       .example = "(p2:1041) ps"},
      {.name = "events",
       .group = kGroup,
       .summary = "List events around the present one, or from another on.",
       .usage = "events [PROCESS | THREAD | EVENT] [COUNT]",
       .example = "(p2:1041) events\n"
                  "(p2:1041) events p3:10 5"},
      {.name = "cut",
       .group = kGroup,
       .summary = "Show the present state as a cut: one event per thread.",
       .usage = "cut",
       .example = "(p2:1041) cut",
       .text = "It is what `pastcone cut` takes: `pastcone cut p1:17 p2:1041 p3:4`."},
      {.name = "show obj",
       .group = kGroup,
       .summary = "Show who used a shared object, in order, and how far that has come.",
       .usage = "show obj [OBJECT | all]",
       .example = "(p2:1041) show obj 4",
       .text = "OBJECT is its number or its name. An access that is done has a *, one that is demanded a $. "
               "`run to obj 4#17`\n"
               "goes to access 17 of object 4."},
      {.name = "show proc",
       .group = kGroup,
       .summary = "Show the state of a process: running, waiting, or where it has arrived.",
       .usage = "show proc [PROCESS | all]",
       .example = "(p2:1041) show proc p3",
       .text = "DemandWait: nobody needs it yet. OrderWait: it waits for another one's turn. Replay: it "
               "runs. ARRIVE_DP,\n"
               "ARRIVE_2DP, ARRIVE_3DP: at the demand point of `run to`, at what that needs directly, at "
               "what those need.\n"
               "ARRIVE_BP: at a breakpoint. ARRIVE_2BP: it waits for one that is."},
      {.name = "show message",
       .group = kGroup,
       .summary = "Print the contents of a message, as text or in hexadecimal.",
       .usage = "show message [EVENT] [all]",
       .example = "(p2:5) show message\n"
                  "p2:5 received 15 bytes on channel 2, from p1:42\n"
                  "  I am the parent\n"
                  "(p2:5) show message p1:17",
       .text = "EVENT is a send or a receive that has happened; without one it is the present event. Of a long "
               "message only the\n"
               "beginning is shown, unless `all` is said. What nobody received is not kept."},
      {.name = "show messages in-transit",
       .group = kGroup,
       .summary = "List the messages that were sent and not yet received.",
       .usage = "show messages in-transit",
       .example = "(p2:1041) show messages in-transit"},
  };
}

}  // namespace pastcone::cli

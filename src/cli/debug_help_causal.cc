// Help: along messages, and back.
#include "pastcone/cli/debug_help.h"

namespace pastcone::cli {

using shell::CommandText;

namespace {
constexpr std::string_view kGroup = "Causes and effects";
}

std::vector<CommandText> causal_texts() {
  return {
      {.name = "follow",
       .group = kGroup,
       .summary = "Go along with the message being sent: to its receiver, just after it was received.",
       .usage = "follow",
       .example = "(p1:17) follow\n"
                  "(p3:9)",
       .text = "The focus moves to the receiver. The others run only as far as that needs."},
      {.name = "cause",
       .group = kGroup,
       .summary = "Go back to what made the sender send the message received last.",
       .usage = "cause [N]",
       .example = "(p3:9) cause\n"
                  "(p1:12)",
       .text = "The focus moves to the sender, just after the last receive before its send: the likeliest "
               "reason for it. The\n"
               "others are at their first state that fits. With N, it is the N-th last message received. "
               "Repeated, it walks from\n"
               "a symptom to its cause; `back` returns."},
      {.name = "cause on fd",
       .group = kGroup,
       .summary = "The same for the message received last on one connection.",
       .usage = "cause on fd FD [N]",
       .example = "(p3:9) cause on fd 7",
       .text = "For event loops that serve many connections. FD is the number that the process in focus has "
               "for it."},
      {.name = "back",
       .group = kGroup,
       .summary = "Go back to the place before, of those visited.",
       .usage = "back [N]",
       .example = "(p1:12) back\n"
                  "(p3:9)",
       .text = "Places are where commands stopped. With N, so many of them."},
      {.name = "forward",
       .group = kGroup,
       .summary = "Undo `back`.",
       .usage = "forward [N]",
       .example = "(p3:9) forward\n"
                  "(p1:12)"},
      {.name = "show commands",
       .group = "The session",
       .summary = "Show the last lines that were typed.",
       .usage = "show commands",
       .example = "(p2:1041) show commands\n"
                  "    1  break all server: srv.c:80\n"
                  "    2  run",
       .text = "In this session and in those before: 1000 are kept. The arrow keys and Ctrl-R bring them back."},
  };
}

}  // namespace pastcone::cli

// Commands of gdb that would take a process away from the replay, or lead it where no recording does.
#include "pastcone/cli/debug_refused.h"

#include <span>

namespace pastcone::cli {
namespace {

constexpr size_t kLeastLetters = 4;  // what is shorter may be another command

struct Refused {
  std::string_view reason;
  std::span<const std::string_view> names;
};

constexpr std::string_view kOwned[] = {"attach", "core-file",        "detach", "disconnect", "exec-file",
                                       "file",   "kill",             "remove-inferiors", "starti", "target"};
constexpr std::string_view kBackwards[] = {"rc",
                                           "record",
                                           "reverse-continue",
                                           "reverse-finish",
                                           "reverse-next",
                                           "reverse-nexti",
                                           "reverse-search",
                                           "reverse-step",
                                           "reverse-stepi",
                                           "rn",
                                           "rni",
                                           "rs",
                                           "rsi"};
constexpr std::string_view kCopies[] = {"add-inferior", "checkpoint", "clone-inferior"};
constexpr std::string_view kScreens[] = {"layout", "tui"};
constexpr std::string_view kPrints[] = {"dprintf"};
constexpr std::string_view kSignals[] = {"handle"};
constexpr std::string_view kTracepoints[] = {"actions", "ftrace", "passcount", "strace", "tp", "tracepoint", "tstart", "tstop",
                                             "tvariable"};
constexpr std::string_view kSaved[] = {"save"};
constexpr std::string_view kAsking[] = {"edit", "explore"};
constexpr std::string_view kInside[] = {"interpreter-exec"};

constexpr Refused kAll[] = {
    {"the processes belong to the replay: 'restart' begins again, 'quit' ends it", kOwned},
    {"single instructions are not gone backwards; 'back' and 'cause' go back, and so does 'run to'",
     kBackwards},
    {"there are the processes of the recording; 'ps' shows them, 'focus' turns to one, 'back' returns to a "
     "place",
     kCopies},
    {"there is no full screen here; 'list' and 'where' show the places", kScreens},
    {"'trace' prints values and goes on; so does a breakpoint whose 'commands' are silent, printf and continue", kPrints},
    {"signals come as they were recorded; 'events' shows where, and 'break' stops in the function that handles one",
     kSignals},
    {"there are no tracepoints here; 'trace' prints values and goes on", kTracepoints},
    {"breakpoints are not saved; 'source' does the commands of a file that sets them", kSaved},
    {"it would ask at a terminal that gdb does not have here; 'list' and 'print' show the rest", kAsking},
    {"it would move a process behind the replay's back; say the command itself", kInside},
};

}  // namespace

std::optional<std::string_view> why_refused(std::string_view line) {
  std::string_view word = line.substr(0, line.find_first_of(" \t"));
  for (const Refused& group : kAll) {
    for (std::string_view name : group.names) {
      if (word == name || (word.size() >= kLeastLetters && name.starts_with(word))) return group.reason;
    }
  }
  return std::nullopt;
}

}  // namespace pastcone::cli

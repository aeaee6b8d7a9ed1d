// What Tab offers behind commands of `pastcone debug` that are not gdb's own, but name what gdb knows:
// places, variables; and processes, events, objects.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pastcone/debug/engine.h"
#include "pastcone/debug/seats.h"
#include "pastcone/shell/completion.h"

namespace pastcone::cli {

/// The lines that gdb, looking at the thread, completes one to.
using GdbCompletion = std::function<std::vector<std::string>(ThreadId thread, const std::string& line)>;
/// `focus`: who is looked at if the thread does not run. All must live on.
GdbCompletion completion_by(debug::Engine& engine, debug::Seats& seats, const ThreadId& focus);

/// Names of objects, if they are known without a replay.
std::vector<std::string> object_names(const Recording& recording);

/// As gdb does behind `command`; behind "p2: " or "server: " too.
shell::Completer like_in_gdb(GdbCompletion gdb, std::string command);
/// Names of programs, each with a colon; and what `places` has.
shell::Completer program_completer(std::function<std::vector<std::string>()> programs, shell::Completer places);
/// Processes, and behind "p2: " what its program has.
shell::Completer predicate_completer(GdbCompletion gdb, std::vector<std::string> processes);
/// Events, and the other things that can be run to.
shell::Completer demand_completer(shell::Completer events, std::function<std::vector<std::string>()> objects);

}  // namespace pastcone::cli

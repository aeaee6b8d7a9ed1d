// pastcone replay: runs a recording again, all of it, printing the program's output as recorded. Exit status
// 0 exactly if nothing diverged.
#include <algorithm>
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "pastcone/cli/program.h"
#include "pastcone/cli/recordings.h"
#include "pastcone/cli/replay_to.h"
#include "pastcone/cli/text.h"
#include "pastcone/replay/director.h"
#include "pastcone/trace/json.h"

namespace pastcone::cli {
namespace {

struct Options {
  std::string rec;
  bool verify = false;
  std::string to;
  bool demand = false;
  bool hold = false;
};

void print_divergences(const replay::ReplayOutcome& outcome, bool first_only) {
  for (const replay::Divergence& divergence : outcome.divergences) {
    std::string line = to_string(divergence);
    if (first_only && outcome.divergences.size() > 1) {
      line += fmt::format(" (and {} more)", plural(outcome.divergences.size() - 1, "process", "processes"));
    }
    print_error(line);
    if (first_only) return;
  }
  if (!outcome.divergences.empty() && outcome.stopped_besides > 0) {
    print_error(fmt::format("{} could not go on after that",
                            plural(outcome.stopped_besides, "other thread", "other threads")));
  }
}

/// At its commas.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t from = 0; from <= text.size();) {
    size_t comma = std::min(text.find(',', from), text.size());
    parts.push_back(text.substr(from, comma - from));
    from = comma + 1;
  }
  return parts;
}

Result<int> run(const Options& options) {
  Path directory = TRY(resolve_recording(options.rec));
  Recording recording = TRY(Recording::open(directory, Check::kAsRead));
  if (!options.to.empty())
    return replay_to(recording, {split(options.to), options.demand, options.hold, !options.verify});
  replay::ReplayOutcome outcome = TRY(replay::replay(recording, {.show_output = !options.verify}));
  print_divergences(outcome, options.verify);
  if (outcome.interrupted) return 128 + SIGINT;
  if (!outcome.exact()) return 1;
  std::string why = printable(recording.why_incomplete());
  if (options.verify) {
    fmt::print("OK: {}, {}{}{}\n", plural(outcome.processes, "process", "processes"),
               plural(outcome.events, "event", "events"),
               why.empty() ? "" : ", as far as they are recorded: ", why);
  } else if (!why.empty()) {
    print_error(fmt::format("replayed as far as it is recorded: {}", why));
  }
  return 0;
}

}  // namespace

void add_replay(Program& program) {
  auto options = std::make_shared<Options>();
  CLI::App& replay = program.add("replay", "runs a recording again and says whether anything differs",
                                 [options] { return run(*options); });
  replay.add_option("REC", options->rec, "the recording; the newest if left out");
  replay.add_flag("--verify", options->verify, "no output of the program, one line about the result");
  CLI::Option* to =
      replay
          .add_option("--to", options->to,
                      "only as far as these events need: p1:17, or p1:17,p3:4 for a state of several")
          ->type_name("EVENT");
  replay
      .add_flag("--demand", options->demand,
                "find the way there by demand: whoever needs another asks it to come that far")
      ->needs(to);
  replay.add_flag("--hold", options->hold, "stay there until Ctrl-C, for gdb -p")->needs(to);
}

}  // namespace pastcone::cli

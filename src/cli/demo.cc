// pastcone demo: records a bundled program whose result depends on the order of messages, and replays it:
// native runs differ, replays do not.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <set>
#include <string>
#include <vector>

#include "pastcone/base/files.h"
#include "pastcone/cli/program.h"
#include "pastcone/cli/text.h"
#include "pastcone/record/new_recording.h"

extern char** environ;

namespace pastcone::cli {
namespace {

constexpr int kRuns = 5;

struct Run {
  int status = 0;
  std::string output;  ///< its standard output, without the newline
};

/// Runs a command to its end; its standard error is ours.
Result<Run> run_command(const std::vector<std::string>& command) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail("cannot create a pipe: {}", errno_message(errno));
  UniqueFd read_end(ends[0]), write_end(ends[1]);
  std::vector<char*> argv;
  for (const std::string& argument : command) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, write_end.get(), 1);
  pid_t child = 0;
  int error = posix_spawn(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return fail("cannot run {}: {}", command.front(), errno_message(error));
  write_end.reset();
  Run run;
  char buffer[4096];
  for (ssize_t got; (got = read(read_end.get(), buffer, sizeof buffer)) != 0;) {
    if (got > 0) run.output.append(buffer, static_cast<size_t>(got));
    if (got < 0 && errno != EINTR) break;
  }
  while (waitpid(child, &run.status, 0) < 0 && errno == EINTR) {
  }
  while (run.output.ends_with('\n')) run.output.pop_back();
  return run;
}

Result<Path> find_example(const Path& self) {
  for (const char* place : {"../examples/vote", "../lib/pastcone/examples/vote"}) {
    std::error_code error;
    Path path = std::filesystem::canonical(self.parent_path() / place, error);
    if (!error) return path;
  }
  return fail("cannot find the example program `vote` near {}; build or install pastcone again",
              self.native());
}

/// Runs it `kRuns` times and shows what it printed; gives the different outputs. An error if a run fails.
Result<std::set<std::string>> show_runs(const std::vector<std::string>& command) {
  std::set<std::string> outputs;
  for (int i = 0; i < kRuns; ++i) {
    Run run = TRY(run_command(command));
    if (run.status != 0) return fail("{} failed; `pastcone doctor` may know why", command_text(command));
    fmt::print("    {}\n", run.output);
    std::fflush(stdout);
    outputs.insert(run.output);
  }
  return outputs;
}

Result<int> demonstrate() {
  std::error_code error;
  Path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return fail("cannot find pastcone itself: {}; is /proc mounted?", error.message());
  Path vote = TRY(find_example(self));

  fmt::print(
      "vote: two processes send a hundred messages each to a third, which folds them into one number.\n"
      "The number depends on the order in which they arrive. Five runs as usual:\n\n");
  std::set<std::string> native = TRY(show_runs({vote.native()}));
  fmt::print("\n{} different results. Now one run is recorded:\n\n    $ pastcone record -- vote\n",
             native.size());
  std::fflush(stdout);

  Path recording = TRY(record::make_recording_directory({}, "vote"));
  Run recorded = TRY(run_command({self.native(), "record", "-o", recording.native(), "--", vote.native()}));
  if (recorded.status != 0) return fail("the recording failed; `pastcone doctor` may know why");
  fmt::print("    {}\n\nand run again, five times:\n\n    $ pastcone replay\n", recorded.output);
  std::set<std::string> replayed = TRY(show_runs({self.native(), "replay", recording.native()}));
  if (replayed != std::set{recorded.output})
    return fail("the replays differ from the recording: that is a bug in pastcone");

  fmt::print(
      "\nAlways the recorded one: every message arrived when it did then, without network and without luck.\n"
      "See what is in the recording: `pastcone info`, `pastcone ps`, `pastcone events`.\n"
      "See which receives could have gone otherwise: `pastcone races`.\n"
      "Record your own program: `pastcone record -- COMMAND`.\n");
  return 0;
}

}  // namespace

void add_demo(Program& program) {
  program.add("demo", "the tour: records a program that never runs the same way twice, and replays it",
              demonstrate);
}

}  // namespace pastcone::cli

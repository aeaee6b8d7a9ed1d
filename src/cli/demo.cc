// pastcone demo: the tour. Records a bundled program with a distributed bug until that shows, and finds it in
// the debugger.
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "pastcone/base/files.h"
#include "pastcone/cli/debug_session.h"
#include "pastcone/cli/graph_facts.h"
#include "pastcone/cli/narrator.h"
#include "pastcone/cli/program.h"
#include "pastcone/cli/recordings.h"
#include "pastcone/cli/run_command.h"
#include "pastcone/cli/text.h"
#include "pastcone/gdb/spawn.h"
#include "pastcone/record/new_recording.h"

namespace pastcone::cli {
namespace {

constexpr int kMostRuns = 200;
constexpr int kInterrupted = 130;
constexpr std::string_view kGood = "v=2\n", kLost = "lost update: replica 1 has v=1, replica 2 has v=2\n";

constexpr std::string_view kBeginning =
    "kv is a small key-value store, four processes: p2 and p3 are replicas 1 and 2 of it,\n"
    "p1 and p4 are clients 1 and 2. Client 1 sets v to 1, in replica 2 and then in replica 1.\n"
    "Client 2 waits until it can read v, and sets v + 1. So at the end v should be 2 in both.\n"
    "In most runs it is. We record it until it is not.";

constexpr std::string_view kRecorded =
    "One of the replicas has lost an update. No process crashed, no call failed; run it\n"
    "again and it most likely works. But this run is recorded: replayed, it fails each time.";

constexpr std::string_view kToDebugger =
    "So there is all the time in the world to look at it, in the debugger.";

/// A command, what is said before it, and where it leads.
struct Step {
  std::string_view text;
  std::string_view command;
  ProcessId focus;           ///< who is in focus then
  std::string_view printed;  ///< is in what it prints
};

const Step kSteps[] = {
    {"When did it go wrong? The first moment at which v is 1 in one replica and 2 in the other\n"
     "would be the place. It is a state of two processes at once; we ask for it like this:",
     "stop if p2: v == 1 && p3: v == 2", ProcessId(1), "Predicate 1"},
    {"", "continue", ProcessId(2), "Predicate 1"},
    {"That is the first such moment. No process has gone further than it had to for that:", "where",
     ProcessId(2), "kv.c:"},
    {"Replica 1 (p2) has just taken a 1, though it had the 2 already. A message told it to.\n"
     "Why was that sent, so late? `cause` goes back to who sent it: just behind the message\n"
     "that this one had received last, which is the likeliest reason for sending.",
     "cause", ProcessId(1), "ask"},
    {"Client 1 (p1), in the past: it has just got an answer. Each process has its gdb, so all\n"
     "that gdb can do is there. One frame up:",
     "up", ProcessId(1), "put_both"},
    {"Its put to the first replica, replica 2, is answered; next comes that to replica 1. That\n"
     "is its job. But meanwhile client 2 must have read the 1 somewhere, to have made a 2 of it\n"
     "and to have got to replica 1 with it first. So what led to this answer?",
     "cause", ProcessId(3), "serve_request"},
    {"Replica 2 (p3), a little earlier. The put of client 1 has just come in. This is what it\n"
     "is going to do with it:",
     "list", ProcessId(3), "readable = 1;"},
};

constexpr std::string_view kEnd =
    "And there is the line: `readable = 1`. Whoever asks gets the value from now on; but v may\n"
    "be read only when both replicas have it, which the client is going to say when it is so\n"
    "(kDone). With 0 instead of 1 no update is lost.";

constexpr std::string_view kToTry =
    "Commands to try, in this order for a start (`help` lists all, `quit` ends):\n\n"
    "    stop if p2: v == 1 && p3: v == 2\n"
    "    continue    to the first state in which that holds\n"
    "    where       all four processes in it\n"
    "    print v     as in gdb, in the process in focus\n"
    "    focus p3    another one; all that gdb can do, in each\n"
    "    focus p2\n"
    "    cause       back to what made somebody send the last message\n"
    "    up          as in gdb\n"
    "    cause\n"
    "    list        and there is the line with the bug\n"
    "    back        to where you were before";

struct Failing {
  Path recording;
  int runs = 0;
  CommandRun run;
};

Result<Path> find_example(const Path& self) {
  for (const char* place : {"../examples/kv", "../lib/pastcone/examples/kv"}) {
    std::error_code error;
    Path path = std::filesystem::canonical(self.parent_path() / place, error);
    if (!error) return path;
  }
  return fail("cannot find the example program `kv` near {}; build or install pastcone again", self.native());
}

tl::unexpected<Error> otherwise(std::string_view command) {
  return fail("`{}` has not led to where the tour goes: that is a bug in pastcone", command);
}

class Tour {
 public:
  Tour() : narrator_(interrupt_) {}

  Result<int> run(bool interactive) {
    Result<int> status = interactive ? prepare() : show();
    if (!interrupt_.pending()) return status;
    fmt::print("\n");
    return kInterrupted;
  }

 private:
  Result<int> show() {
    TRY_STATUS(record());
    narrator_.say(kRecorded);
    TRY_STATUS(replay());
    narrator_.say(kToDebugger);
    narrator_.type("$ ", "pastcone debug");
    TRY_STATUS(debug());
    narrator_.say(kEnd);
    narrator_.let_read();
    fmt::print("{}\n", filled("The recording is still there: `pastcone debug` opens the newest one, `pastcone demo "
                              "--interactive`\n"
                              "makes another and says what to try. docs/tutorial.md goes on from here.\n\n"
                              "Your own program: `pastcone record -- COMMAND`, and then `pastcone debug`.",
                              terminal_width()));
    return 0;
  }

  Result<int> prepare() {
    TRY_STATUS(record());
    narrator_.say(kToTry);
    narrator_.type("$ ", "pastcone debug");
    std::string self = self_.native(), recording = failing_.recording.native();
    char command[] = "debug";
    char* arguments[] = {self.data(), command, recording.data(), nullptr};
    if (interrupt_.pending()) return kInterrupted;
    execv(arguments[0], arguments);
    return fail("cannot run {}: {}", self, errno_message(errno));
  }

  /// Until it fails.
  Status record() {
    std::error_code error;
    self_ = std::filesystem::read_symlink("/proc/self/exe", error);
    if (error) return fail("cannot find pastcone itself: {}; is /proc mounted?", error.message());
    Path kv = TRY(find_example(self_));
    TRY(gdb::find_gdb());
    narrator_.say(kBeginning);
    if (narrator_.terminal())
      narrator_.say("(About a minute at reading pace. Enter goes on at once, Ctrl-C ends it.)");
    narrator_.let_read();
    narrator_.type("$ ", "while pastcone record -- kv; do true; done");
    failing_ = TRY(record_until_lost(kv));
    narrator_.show(failing_.run.output);
    narrator_.show(failing_.run.errors);
    fmt::print("\n({})\n\n", failing_.runs == 1
                                 ? "the first run failed at once"
                                 : fmt::format("{} runs, and the last one failed", failing_.runs));
    return {};
  }

  Result<Failing> record_until_lost(const Path& kv) {
    for (int runs = 1; runs <= kMostRuns; ++runs) {
      Path recording = TRY(record::make_recording_directory({}, "kv"));
      auto run = run_command({self_.native(), "record", "-o", recording.native(), "--", kv.native()});
      if (run && run->exited(1) && run->output == kLost) return Failing{recording, runs, *run};
      std::error_code error;
      std::filesystem::remove_all(recording, error);
      if (!run) return tl::unexpected<Error>(run.error());
      if (interrupt_.pending()) return fail("interrupted");
      if (!run->exited(0) || run->output != kGood) {
        narrator_.show(run->errors);
        return fail("recording {} failed; `pastcone doctor` may know why", kv.native());
      }
      narrator_.show(run->output);
    }
    return fail(
        "kv has not failed in {} runs on this machine, so there is nothing to be found; try again when "
        "others work on it, too",
        kMostRuns);
  }

  Status replay() {
    narrator_.let_read();
    narrator_.type("$ ", "pastcone replay");
    CommandRun run = TRY(run_command({self_.native(), "replay", failing_.recording.native()}));
    if (interrupt_.pending()) return fail("interrupted");
    narrator_.show(run.output);
    if (!run.exited(0) || run.output != kLost) {
      narrator_.show(run.errors);
      return otherwise("pastcone replay");
    }
    fmt::print("\n");
    return {};
  }

  Status debug() {
    Recording recording = TRY(open_recording(failing_.recording.native()));
    graph::OpenedGraph opened = TRY(open_whole_graph(recording));
    if (!opened.whole) {  // a replay of its own, which takes Ctrl-C for itself
      interrupt_.trigger();
      return fail("interrupted");
    }
    std::unique_ptr<DebugSession> session = TRY(DebugSession::begin(recording, opened.graph, interrupt_));
    shell::Commands commands;
    session->bind(commands);
    fmt::print("\n");
    for (const Step& step : kSteps) {
      if (!step.text.empty()) narrator_.say(step.text);
      narrator_.let_read();
      if (interrupt_.pending()) return fail("interrupted");
      narrator_.type(session->prompt(), step.command);
      Status done;
      std::string output = TRY(capture_output([&] { done = commands.run(step.command); }));
      narrator_.show(output);
      if (interrupt_.pending()) return fail("interrupted");
      TRY_STATUS(done);
      bool as_told = session->prompt().starts_with(fmt::format("({}:", step.focus)) &&
                     output.find(step.printed) != std::string::npos;
      if (!as_told) return otherwise(step.command);
      if (step.command != kSteps[0].command) fmt::print("\n");
    }
    return {};
  }

  shell::Interrupt interrupt_;
  Narrator narrator_;
  Path self_;
  Failing failing_;
};

}  // namespace

void add_demo(Program& program) {
  auto interactive = std::make_shared<bool>(false);
  CLI::App& demo = program.add("demo", "the tour: records a program until it fails, and finds the bug",
                               [interactive] { return Tour().run(*interactive); });
  demo.add_flag("--interactive", *interactive, "records likewise, and leaves the debugger to you");
}

}  // namespace pastcone::cli

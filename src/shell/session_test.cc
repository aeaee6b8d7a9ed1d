#include "pastcone/shell/session.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>

namespace pastcone::shell {
namespace {

using Kind = Script::Step::Kind;

/// Runs sessions whose commands come from a pipe. `say TEXT` prints, `err` fails, `hit` is Ctrl-C while it
/// runs.
class SessionTest : public testing::Test {
 protected:
  SessionTest() {
    char pattern[] = "/tmp/pastcone-session-XXXXXX";
    directory_ = mkdtemp(pattern);
  }
  ~SessionTest() override { std::filesystem::remove_all(directory_); }

  /// The status; output_ has stdout and stderr as they come in one pipe.
  int run(const Script& script, std::string_view input) {
    int in[2], out[2];
    EXPECT_EQ(pipe(in), 0);
    EXPECT_EQ(pipe(out), 0);
    pid_t child = fork();
    if (child == 0) {
      dup2(in[0], STDIN_FILENO);
      dup2(out[1], STDOUT_FILENO);
      dup2(out[1], STDERR_FILENO);
      for (int fd : {in[0], in[1], out[0], out[1]}) close(fd);
      _exit(child_main(script));
    }
    close(out[1]);
    EXPECT_EQ(write(in[1], input.data(), input.size()), static_cast<ssize_t>(input.size()));
    close(in[0]);  // not before: a child that reads nothing may be gone by now, and that would be SIGPIPE
    close(in[1]);
    output_.clear();
    char bytes[512];
    for (ssize_t count; (count = read(out[0], bytes, sizeof bytes)) > 0;) {
      output_.append(bytes, static_cast<size_t>(count));
    }
    close(out[0]);
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  static int child_main(const Script& script) {
    Interrupt interrupt;
    Commands commands;
    commands.add({.name = "say", .repeat = Repeat::kSame}, [](std::string_view text) -> Status {
      fmt::print("{}\n", text);
      return {};
    });
    commands.add({.name = "err"}, [](std::string_view text) -> Status { return fail("No {}.", text); });
    commands.add({.name = "hit"}, [&interrupt](std::string_view) -> Status {
      raise(SIGINT);
      return interrupt.pending() ? Status() : fail("SIGINT was lost");
    });
    Session session(commands, interrupt);
    std::unique_ptr<LineReader> reader =
        open_line_reader({.prompt = [] { return std::string("(prompt) "); }}, interrupt);
    int status = session.run(script, *reader);
    std::fflush(stdout);
    return status;
  }

  Path file(std::string_view name, std::string_view contents) {
    Path path = directory_ / name;
    EXPECT_TRUE(write_file_atomic(path, contents));
    return path;
  }

  Path directory_;
  std::string output_;
};

TEST_F(SessionTest, ReadsCommandsFromAPipe) {
  EXPECT_EQ(run({}, "say one\n\n# say no\n  say two\nsay last"), 0);
  EXPECT_EQ(output_, "one\ntwo\nlast\n");  // no prompt, and the empty line repeats nothing
}

TEST_F(SessionTest, GoesOnAfterAnErrorAndSaysSoAtTheEnd) {
  EXPECT_EQ(run({}, "say one\nerr symbol\nsay two\n"), 1);
  EXPECT_EQ(output_, "one\nNo symbol.\ntwo\n");
}

TEST_F(SessionTest, CommandsAndFilesInOrder) {
  Script script;
  script.steps = {{Kind::kCommand, "say 1"},
                  {Kind::kFile, file("a", "# first\n\nsay 2\nsay 3")},
                  {Kind::kCommand, "say 4"}};
  EXPECT_EQ(run(script, "say 5\n"), 0);
  EXPECT_EQ(output_, "1\n2\n3\n4\n5\n");
}

TEST_F(SessionTest, BatchReadsNothing) {
  Script script{{{Kind::kCommand, "say 1"}}, true};
  EXPECT_EQ(run(script, "say 2\n"), 0);
  EXPECT_EQ(output_, "1\n");
  script.steps = {{Kind::kCommand, "err symbol"}, {Kind::kCommand, "say 1"}};
  EXPECT_EQ(run(script, ""), 1);
  EXPECT_EQ(output_, "No symbol.\n1\n");
}

TEST_F(SessionTest, AFileEndsAtItsFirstError) {
  Path bad = file("bad", "say 1\n\nerr symbol\nsay no\n");
  Script script{{{Kind::kFile, bad}, {Kind::kCommand, "say 2"}}, true};
  EXPECT_EQ(run(script, ""), 1);
  EXPECT_EQ(output_, fmt::format("1\n{}:3: No symbol.\n2\n", bad.native()));
}

TEST_F(SessionTest, FilesInFiles) {
  Path inner = file("inner", "err symbol\n"),
       outer = file("outer", "say 1\nsource " + inner.native() + "\nsay no\n");
  EXPECT_EQ(run({}, "source " + outer.native() + "\nsay 2\n"), 1);
  EXPECT_EQ(output_, fmt::format("1\n{}:2: {}:1: No symbol.\n2\n", outer.native(), inner.native()));

  Path itself = file("itself", "");
  file("itself", "source " + itself.native());
  EXPECT_EQ(run({}, "source " + itself.native() + "\nsay 2\n"), 1);
  EXPECT_TRUE(output_.ends_with("does one of them name itself?\n2\n"));
  EXPECT_EQ(run({}, "source /nonexistent\n"), 1);
  EXPECT_NE(output_.find("/nonexistent: No such file"), std::string::npos);
}

TEST_F(SessionTest, Quit) {
  EXPECT_EQ(run({}, "quit\nsay no\n"), 0);
  EXPECT_EQ(run({}, "err x\nq\nsay no\n"), 1);
  EXPECT_EQ(run({}, "err x\nquit 0\n"), 0);
  EXPECT_EQ(run({}, "quit 300\nquit -1\nquit x\nquit 17\n"), 17);
  EXPECT_EQ(
      output_,
      "quit takes a status from 0 to 255, not \"300\".\nquit takes a status from 0 to 255, not \"-1\".\n"
      "quit takes a status from 0 to 255, not \"x\".\n");
  Script script{{{Kind::kFile, file("q", "say 1\nquit 3\nsay no\n")}, {Kind::kCommand, "say no"}}, false};
  EXPECT_EQ(run(script, "say no\n"), 3);
  EXPECT_EQ(output_, "1\n");
}

TEST_F(SessionTest, InterruptEndsWhatNobodyWatches) {
  EXPECT_EQ(run({}, "say 1\nhit\nsay no\n"), 130);
  EXPECT_EQ(output_, "1\n");
  Path script_file = file("h", "hit\nsay no\n");
  EXPECT_EQ(run({{{Kind::kFile, script_file}, {Kind::kCommand, "say no"}}, true}, ""), 130);
  EXPECT_EQ(output_, script_file.native() + ":1: Quit\n");
}

TEST(ScriptOptions, AreTakenInOrder) {
  Script script;
  auto rest = take_script_options(
      {"rec", "-ex", "run to p1:3", "-x", "a.pc", "--json", "--ex=bt", "-batch", "--", "-x"}, script);
  ASSERT_TRUE(rest);
  EXPECT_EQ(*rest, (std::vector<std::string>{"rec", "--json", "--", "-x"}));
  ASSERT_EQ(script.steps.size(), 3u);
  EXPECT_EQ(script.steps[0].text, "run to p1:3");
  EXPECT_EQ(script.steps[1].kind, Kind::kFile);
  EXPECT_EQ(script.steps[1].text, "a.pc");
  EXPECT_EQ(script.steps[2].text, "bt");
  EXPECT_TRUE(script.batch);
  EXPECT_EQ(take_script_options({"-ex"}, script).error().message, "-ex needs a command behind it");
}

}  // namespace
}  // namespace pastcone::shell

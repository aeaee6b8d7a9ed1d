// A real gdb. Without one these tests fail.
#include "pastcone/gdb/gdb.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <fstream>

#include "pastcone/base/files.h"

namespace pastcone::gdb {
namespace {

using testing::Test;

class GdbTest : public Test {
 protected:
  void SetUp() override {
    auto started = Gdb::start();
    ASSERT_TRUE(started) << started.error().message;
    gdb_ = std::move(*started);
  }
  /// What gdb's console prints.
  std::string say(const std::string& command, const std::vector<std::string>& body = {}) {
    auto answer = gdb_->console(command, body);
    if (!answer) return "ERROR " + answer.error().message;
    return answer->good ? answer->console : "refused: " + answer->error;
  }
  void load() { ASSERT_EQ(say("file " GDB_SUBJECT).substr(0, 7), "Reading"); }
  void run_to_inner() {
    load();
    ASSERT_TRUE(gdb_->run("-break-insert inner"));
    auto answer = gdb_->run("-exec-run");
    ASSERT_TRUE(answer && answer->running);
    auto stopped = gdb_->wait_stop();
    ASSERT_TRUE(stopped);
    EXPECT_EQ(stopped->record["reason"].text, "breakpoint-hit");
    EXPECT_NE(stopped->console.find("Breakpoint 1, inner (depth=3, p="), std::string::npos)
        << stopped->console;
  }
  /// Readable at once, and served once.
  void serve_once(std::function<void()> what) {
    int fd = eventfd(1, EFD_CLOEXEC);
    gdb_->serve({fd, [fd, what] {
                   close(fd);
                   what();
                   return false;
                 }});
  }

  std::unique_ptr<Gdb> gdb_;
};

TEST_F(GdbTest, AnswersAndRefuses) {
  EXPECT_EQ(say("print 6 * 7"), "$1 = 42\n");
  EXPECT_EQ(say("print nosuch"), "refused: No symbol table is loaded.  Use the \"file\" command.");
  EXPECT_EQ(say("nosuchcommand"), "refused: Undefined command: \"nosuchcommand\".  Try \"help\".");
  EXPECT_EQ(say("print \"a\\\"b\\\\\""), "$2 = \"a\\\"b\\\\\"\n");
  EXPECT_EQ(say("print 1\nprint 2"), "refused: A syntax error in expression, near `print 2'.");
  EXPECT_EQ(say(""), "");
  auto answer = gdb_->run("-no-such-command");
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->good);
  EXPECT_EQ(answer->error, "Undefined MI command: no-such-command");
  EXPECT_EQ(gdb_->run("-data-evaluate-expression 1+1")->results["value"].text, "2");
}

TEST_F(GdbTest, TextWithoutAnEndOfLineHidesNoAnswer) {
  EXPECT_EQ(say("shell echo hello"), "hello\n");
  EXPECT_EQ(say("shell printf hello"), "hello");
  EXPECT_EQ(say("echo >"), "");
  EXPECT_EQ(say("print 1"), "$1 = 1\n");
}

TEST_F(GdbTest, CommandsThatAskForLinesGetThem) {
  EXPECT_EQ(say("define two", {"print 1", "print 2"}), "");
  EXPECT_EQ(say("two"), "$1 = 1\n$2 = 2\n");
  EXPECT_EQ(say("define nothing"), "");
  EXPECT_EQ(say("define joined", {"print 3 +\\", "4"}), "");
  EXPECT_EQ(say("joined"), "$3 = 7\n");
  EXPECT_EQ(say("if 1", {"if 1", "print 3", "end"}), "$4 = 3\n");
  EXPECT_EQ(say("python", {"print(5)"}), "5\n");
  EXPECT_EQ(say("python", {"print(6)", "\\"}), "6\n");
}

TEST_F(GdbTest, ResumingCommandsAreWaitedFor) {
  run_to_inner();
  EXPECT_EQ(say("next"), "40\t  unsigned short us = 65535;\n");
  std::string text = say("finish");
  EXPECT_EQ(text.substr(0, 35), "Run till exit from #0  inner (depth") << text;
  EXPECT_NE(text.find("// line 51\nValue returned is $1 = "), std::string::npos) << text;
  text = say("continue");
  EXPECT_EQ(text.substr(0, 11), "Continuing.") << text;
  EXPECT_NE(text.find("Breakpoint 1, inner (depth=4"), std::string::npos) << text;
  EXPECT_EQ(say("display depth"), "1: depth = 4\n");
  EXPECT_EQ(say("step"), "40\t  unsigned short us = 65535;\n1: depth = 4\n");
  auto frame = gdb_->frame_text();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->substr(0, 18), "#0  inner (depth=4");
  EXPECT_EQ(frame->substr(frame->find('\n')), "\n40\t  unsigned short us = 65535;\n");
  say("delete");
  EXPECT_NE(say("continue").find("[Inferior 1 (process"), std::string::npos);
  EXPECT_EQ(gdb_->frame_text().value_or("?"), "No stack.\n");
}

TEST_F(GdbTest, ScriptsThatResumeAreWaitedForToTheirEnd) {
  run_to_inner();
  say("define twice", {"next", "echo between\\n", "next", "echo after\\n"});
  EXPECT_EQ(say("twice"),
            "40\t  unsigned short us = 65535;\nbetween\n41\t  volatile int vol = local;\nafter\n");
  EXPECT_EQ(say("print depth"), "$1 = 3\n");
  say("define wrong", {"next", "print nosuch", "next"});
  EXPECT_EQ(say("wrong"), "refused: No symbol \"nosuch\" in current context.");
  EXPECT_EQ(say("print depth"), "$2 = 3\n");
}

TEST_F(GdbTest, Completes) {
  load();
  EXPECT_EQ(gdb_->complete("info loc").value(), std::vector<std::string>{"info locals"});
  EXPECT_EQ(gdb_->complete("print numb").value(), std::vector<std::string>{"print numbers"});
  EXPECT_TRUE(gdb_->complete("nosuchcommand x").value().empty());
}

TEST_F(GdbTest, ServesOthersWhileItWaits) {
  std::string fifo = fmt::format("/tmp/pastcone-gdb-test.{}", getpid());
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  // gdb answers only when the source has been served.
  serve_once([&] { std::ofstream(fifo) << "served" << std::endl; });
  EXPECT_EQ(say("shell cat " + fifo), "served\n");
  unlink(fifo.c_str());
}

TEST_F(GdbTest, InterruptStopsWhatRuns) {
  load();
  say("set args forever");
  ASSERT_TRUE(gdb_->run("-exec-run")->running);
  // Once it waits in poll, which is 7 for the kernel.
  serve_once([&] {
    for (;;) {
      auto children = read_file(fmt::format("/proc/{0}/task/{0}/children", gdb_->pid())).value_or("");
      auto child = children.substr(0, children.find(' '));
      auto call = read_file("/proc/" + child + "/syscall").value_or("");
      if (call.starts_with("7 0x0 0x0 0xffffffff")) break;
      usleep(1000);
    }
    gdb_->interrupt();
  });
  auto stopped = gdb_->wait_stop();
  ASSERT_TRUE(stopped) << stopped.error().message;
  EXPECT_EQ(stopped->record["signal-name"].text, "SIGINT");
}

TEST_F(GdbTest, AttachesAndSaysWhere) {
  pid_t child = fork();
  if (child == 0) {
    execl(GDB_SUBJECT, GDB_SUBJECT, "forever", nullptr);
    _exit(127);
  }
  while (!read_file(fmt::format("/proc/{}/syscall", child)).value_or("").starts_with("7 0x0 0x0 0xffffffff"))
    usleep(1000);
  std::string text = say(fmt::format("attach {}", child));
  EXPECT_NE(text.find("poll ("), std::string::npos) << text;
  EXPECT_EQ(say("print x"), "$1 = 4\n");
  kill(child, SIGKILL);
  EXPECT_NE(say("continue").find("Program terminated with signal SIGKILL"), std::string::npos);
  waitpid(child, nullptr, 0);
}

TEST_F(GdbTest, KilledWhileItWorksIsAnError) {
  serve_once([&] { kill(gdb_->pid(), SIGKILL); });
  // What it has started keeps its output open.
  auto answer = gdb_->console("shell sleep 1000");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "gdb was killed by signal 9");
  EXPECT_FALSE(gdb_->alive());
  EXPECT_FALSE(gdb_->console("print 1"));
  EXPECT_FALSE(gdb_->wait_stop());
  EXPECT_FALSE(gdb_->complete("p"));
}

TEST_F(GdbTest, KilledWhileTheProgramRunsIsAnError) {
  load();
  say("set args forever");
  ASSERT_TRUE(gdb_->run("-exec-run")->running);
  serve_once([&] { kill(gdb_->pid(), SIGKILL); });
  auto stopped = gdb_->wait_stop();
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().message, "gdb was killed by signal 9");
}

TEST_F(GdbTest, KilledAtRestIsAnErrorAtTheNextCommand) {
  EXPECT_TRUE(gdb_->alive());
  kill(gdb_->pid(), SIGKILL);
  auto answer = gdb_->run("-gdb-version");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "gdb was killed by signal 9");
}

TEST_F(GdbTest, QuitIsAnError) {
  auto answer = gdb_->console("quit 3");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "gdb has ended (exit status 3)");
}

TEST_F(GdbTest, SilenceIsAnError) {
  gdb_->set_patience(50);
  auto answer = gdb_->console("shell sleep 1000");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().message, "gdb does not answer");
}

TEST_F(GdbTest, IsOutOfReachOfTheTerminal) {
  EXPECT_EQ(getsid(gdb_->pid()), gdb_->pid());
  EXPECT_EQ(getpgid(gdb_->pid()), gdb_->pid());
}

TEST(FindGdb, SaysWhatToInstall) {
  std::string path = getenv("PATH");
  setenv("PATH", "/nowhere:/", 1);
  auto started = Gdb::start();
  setenv("PATH", path.c_str(), 1);
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message, "gdb is not installed; apt install gdb");
  setenv("PASTCONE_GDB", "/bin/false", 1);
  started = Gdb::start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message, "gdb has ended (exit status 1)");
  setenv("PASTCONE_GDB", "/nowhere/gdb", 1);
  started = Gdb::start();
  unsetenv("PASTCONE_GDB");
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().message, "PASTCONE_GDB is /nowhere/gdb, which is no program");
}

}  // namespace
}  // namespace pastcone::gdb

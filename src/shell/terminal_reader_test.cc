// The reader on a terminal: a child reads lines from a pseudoterminal and prints what it got; the test types
// and waits for what must appear. Nothing here sleeps.
#include "pastcone/shell/terminal_reader.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>

#include "pastcone/shell/session.h"

namespace pastcone::shell {
namespace {

constexpr auto kTooLong = std::chrono::seconds(60);  // only a failure takes that long

class TerminalTest : public testing::Test {
 protected:
  TerminalTest() {
    char pattern[] = "/tmp/pastcone-terminal-XXXXXX";
    directory_ = mkdtemp(pattern);
  }
  ~TerminalTest() override {
    hang_up();
    std::filesystem::remove_all(directory_);
  }

  void start(const char* type = "xterm", const char* editrc = "") {
    ASSERT_TRUE(write_file_atomic(directory_ / "editrc", editrc));
    winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
    child_ = forkpty(&terminal_, nullptr, nullptr, &size);
    ASSERT_GE(child_, 0);
    if (child_ != 0) return;
    for (int ignored : {SIGINT, SIGQUIT, SIGTSTP}) signal(ignored, SIG_DFL);  // by who started the test, perhaps
    setenv("TERM", type, 1);
    setenv("EDITRC", (directory_ / "editrc").c_str(), 1);
    setenv("LC_ALL", "C", 1);
    _exit(under_shell_ ? shell_main() : child_main());
  }

  /// What a shell does with one job: when it stops, takes the terminal back, and gives it on after a line.
  int shell_main() {
    signal(SIGTTOU, SIG_IGN);
    pid_t job = fork();
    if (job == 0) {
      setpgid(0, 0);
      tcsetpgrp(STDIN_FILENO, getpid());
      signal(SIGTTOU, SIG_DFL);
      _exit(child_main());
    }
    int status = 0;
    while (waitpid(job, &status, WUNTRACED) == job && WIFSTOPPED(status)) {
      tcsetpgrp(STDIN_FILENO, getpgrp());
      fmt::print("stopped\n");
      std::fflush(stdout);
      char line[80];
      if (read(STDIN_FILENO, line, sizeof line) <= 0) return 1;
      tcsetpgrp(STDIN_FILENO, job);
      kill(job, SIGCONT);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  }

  /// `say TEXT` prints [TEXT], `loop` runs until Ctrl-C.
  int child_main() {
    signal(SIGHUP, SIG_DFL);
    Interrupt interrupt;
    Commands commands;
    int count = 0;
    commands.add({.name = "say", .repeat = Repeat::kSame}, [&count](std::string_view text) -> Status {
      fmt::print("[{} #{}]\n", text, ++count);
      return {};
    });
    commands.add({.name = "loop"}, [&interrupt](std::string_view) -> Status {
      fmt::print("looping\n");
      std::fflush(stdout);
      pollfd wait = {interrupt.fd(), POLLIN, 0};
      while (!interrupt.pending()) poll(&wait, 1, -1);
      return fail("stopped by Ctrl-C");
    });
    commands.add({.name = "columns"}, [](std::string_view) -> Status {
      winsize now{};
      ioctl(STDOUT_FILENO, TIOCGWINSZ, &now);
      fmt::print("[{} columns]\n", now.ws_col);
      return {};
    });
    for (const char* name : {"step", "stepi", "stop"})
      commands.add({.name = name}, [](std::string_view) { return Status(); });
    Session session(commands, interrupt);
    int prompts = 0;
    std::unique_ptr<LineReader> reader =
        open_line_reader({.prompt = [&prompts] { return fmt::format("(p{}) ", ++prompts); },
                          .completer = [&commands](std::string_view line) { return commands.complete(line); },
                          .history = directory_ / "history"},
                         interrupt);
    int status = session.run({}, *reader);
    fmt::print("bye\n");
    std::fflush(stdout);
    return status;
  }

  void type(std::string_view keys) {
    ASSERT_EQ(write(terminal_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
  }

  /// Reads until `text` has appeared behind what was expected before.
  void expect(std::string_view text) {
    auto end = std::chrono::steady_clock::now() + kTooLong;
    for (;;) {
      if (size_t at = screen_.find(text, seen_); at != std::string::npos) {
        seen_ = at + text.size();
        return;
      }
      pollfd wait = {terminal_, POLLIN, 0};
      auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
      char bytes[512];
      ssize_t count = left.count() > 0 && poll(&wait, 1, static_cast<int>(left.count())) > 0
                          ? read(terminal_, bytes, sizeof bytes)
                          : -1;
      if (count <= 0) {
        FAIL() << "did not see \"" << text << "\" behind \"" << screen_.substr(0, seen_) << "\", but \""
               << testing::PrintToString(screen_.substr(seen_)) << '"';
      }
      screen_.append(bytes, static_cast<size_t>(count));
    }
  }

  int wait_for_end() {
    int status = 0;
    EXPECT_EQ(waitpid(child_, &status, 0), child_);
    child_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }

  /// Flags of the terminal: whether lines are edited by the kernel, as the shell wants it.
  bool cooked() const {
    termios state{};
    tcgetattr(terminal_, &state);
    return (state.c_lflag & (ICANON | ECHO)) == (ICANON | ECHO);
  }

  void hang_up() {
    if (terminal_ >= 0) close(terminal_);
    terminal_ = -1;
    if (child_ > 0) {
      kill(child_, SIGKILL);
      wait_for_end();
    }
  }

  Path directory_;
  bool under_shell_ = false;
  pid_t child_ = 0;
  int terminal_ = -1;
  std::string screen_;
  size_t seen_ = 0;
};

TEST_F(TerminalTest, EditsLinesAndEndsWithCtrlD) {
  start();
  expect("(p1) ");
  EXPECT_FALSE(cooked());
  type("sya one\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x14\x05\r");  // five to the left, swap, to the end
  expect("[one #1]");
  expect("(p2) ");
  type("say gr\xc3\xbc\xc3\x9f\x7f\x7fo\r");  // UTF-8, two characters deleted
  expect("[gro #2]");
  expect("(p3) ");
  type("\x04");
  expect("\r(p3) quit\r\nbye");
  EXPECT_EQ(wait_for_end(), 0);
  EXPECT_TRUE(cooked());
}

TEST_F(TerminalTest, CtrlCDiscardsTheLine) {
  start();
  expect("(p1) ");
  type("say no");
  expect("say no");
  type("\x03");
  expect("^C\r\n(p2) ");
  EXPECT_NE(screen_.find("(p1) say no^C"), std::string::npos);  // not shown twice
  type("say yes\r");
  expect("[yes #1]");
  expect("(p3) ");
  type("\x03");
  expect("^C");
  expect("(p4) ");
  type("say middle\x01");  // the cursor is at the beginning
  expect("middle");
  type("\x03");
  expect("^C\r\n(p5) ");
  type("\x12sa");  // in a search, too
  expect("say yes");
  type("\x03");
  expect("^C");
  expect("(p6) ");
  type("\x04");
  expect("bye");
  EXPECT_EQ(wait_for_end(), 0);
}

TEST_F(TerminalTest, CtrlCEndsACommand) {
  start();
  expect("(p1) ");
  type("loop\r");
  expect("looping");
  EXPECT_TRUE(cooked());
  type("\x03");
  expect("stopped by Ctrl-C");
  expect("(p2) ");
  type("say on\r");
  expect("[on #1]");
}

TEST_F(TerminalTest, TabCompletesAndLists) {
  start();
  expect("(p1) ");
  type("sa\tx\r");
  expect("[x #1]");
  expect("(p2) ");
  type("st\t");
  expect("step   stepi  stop\r\n");
  expect("(p2) st");
  type("o\t\t");  // the second one beeps
  expect("p ");
  expect("\a");
  type("\x15say \t");  // no arguments are known
  expect("\a");
  type("y\r");
  expect("[y #2]");
}

TEST_F(TerminalTest, HistoryInThisSessionAndTheNext) {
  start();
  expect("(p1) ");
  type("say one\r");
  expect("[one #1]");
  expect("(p2) ");
  type("\x1b[A\x7f\x7f\x7ftwo\r");
  expect("[two #2]");
  expect("(p3) ");
  type("\x04");
  expect("bye");
  EXPECT_EQ(wait_for_end(), 0);
  hang_up();
  screen_.clear();
  seen_ = 0;
  start();
  expect("(p1) ");
  type("\x1b[A\x1b[A\r");
  expect("[one #1]");
}

TEST_F(TerminalTest, AnEmptyLineRepeats) {
  start();
  expect("(p1) ");
  type("say x\r");
  expect("[x #1]");
  expect("(p2) ");
  type("\r");
  expect("[x #2]");
  expect("(p3) ");
  type("columns\r");
  expect("[80 columns]");
  expect("(p4) ");
  type("\r");
  expect("(p5) ");
  type("say y\r");
  expect("[y #3]");
  EXPECT_EQ(screen_.find("[80 columns]"), screen_.rfind("[80 columns]"));
}

TEST_F(TerminalTest, IsResizedWhileSomebodyTypes) {
  start();
  expect("(p1) ");
  type("say wide");
  expect("say wide");
  winsize size{.ws_row = 24, .ws_col = 20, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(ioctl(terminal_, TIOCSWINSZ, &size), 0);
  type(" and more than fits\r");
  expect("[wide and more than fits #1]");
  expect("(p2) ");
  type("st\t");
  expect("step   stepi  stop\r\n");  // 18 columns
  type("\x15");
  size.ws_col = 13;
  ASSERT_EQ(ioctl(terminal_, TIOCSWINSZ, &size), 0);
  type("st\t");
  expect("step   stop\r\nstepi\r\n");
}

TEST_F(TerminalTest, CtrlZStopsAndTheTerminalIsTheShells) {
  under_shell_ = true;
  start();
  expect("(p1) ");
  type("say so");
  expect("say so");
  type("\x1a");
  expect("stopped");
  EXPECT_TRUE(cooked());
  type("\n");  // the shell goes on with it
  expect("say so");
  type("me\r");
  expect("[some #1]");
  expect("(p2) ");
  type("\x04");
  expect("bye");
  EXPECT_EQ(wait_for_end(), 0);
}

TEST_F(TerminalTest, SigtermLeavesTheTerminalAsItWas) {
  start();
  expect("(p1) ");
  EXPECT_FALSE(cooked());
  kill(child_, SIGTERM);
  EXPECT_EQ(wait_for_end(), -SIGTERM);
  EXPECT_TRUE(cooked());
}

TEST_F(TerminalTest, ViByEditrc) {
  start("xterm", "bind -v\n");
  expect("(p1) ");
  type("sa\tabc");
  expect("y abc");
  type("\x1b");
  type("hx\r");  // in command mode: left, delete
  expect("[ac #1]");
}

TEST_F(TerminalTest, ADumbTerminalHasAPromptAndNoEditing) {
  start("dumb");
  expect("(p1) ");
  EXPECT_TRUE(cooked());
  type("say x\n");
  expect("[x #1]");
  expect("(p2) ");
  type("say no\x03");
  expect("^C");
  expect("(p3) ");
  type("\n");  // repeats
  expect("[x #2]");
  expect("(p4) ");
  type("\x04");
  expect("bye");
  EXPECT_EQ(wait_for_end(), 0);
}

}  // namespace
}  // namespace pastcone::shell

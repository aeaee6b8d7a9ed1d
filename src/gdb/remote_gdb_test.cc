// The real gdb looks at a real process (testing/remote_subject.c) through RemoteServer.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>

#include "pastcone/base/check.h"
#include "pastcone/gdb/remote.h"
#include "pastcone/gdb/testing/ptrace_target.h"

namespace pastcone::gdb {
namespace {

using testing::PtraceTarget;

std::atomic<bool> signaled;

/// A directory with the socket that gdb connects to, and what gdb says.
class Meeting {
 public:
  Meeting() {
    char name[] = "/tmp/pastcone-test-XXXXXX";
    CHECK(mkdtemp(name) != nullptr);
    directory_ = name;
    listening_.reset(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strcpy(address.sun_path, socket_path().c_str());
    CHECK(bind(listening_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    CHECK(listen(listening_.get(), 1) == 0);
  }
  ~Meeting() { std::filesystem::remove_all(directory_); }

  Path socket_path() const { return directory_ / "socket"; }
  Path output_path() const { return directory_ / "output"; }

  /// gdb's connection; none if gdb (a pidfd) has ended before.
  UniqueFd accept(int gdb) {
    pollfd either[2] = {{listening_.get(), POLLIN, 0}, {gdb, POLLIN, 0}};
    while (poll(either, 2, -1) < 0) CHECK(errno == EINTR);
    if (either[0].revents == 0) return {};
    return UniqueFd(accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }

 private:
  Path directory_;
  UniqueFd listening_;
};

class RemoteGdb : public ::testing::Test {
 protected:
  /// Lets gdb do `commands` to the target; what it prints. They begin with those that set it up.
  std::string run(Target& target, std::vector<std::string> commands, const Stop& stop = {}) {
    Meeting meeting;
    std::vector<std::string> all{
        "set confirm off",   "set pagination off",         "set sysroot /",
        "set auto-load off", "set debuginfod enabled off", "target remote " + meeting.socket_path().string()};
    all.insert(all.end(), commands.begin(), commands.end());
    std::vector<const char*> arguments{"gdb", "-nx", "-q", "-batch"};
    for (const std::string& command : all) arguments.insert(arguments.end(), {"-ex", command.c_str()});
    arguments.push_back(nullptr);
    gdb_ = fork();
    if (gdb_ == 0) {
      UniqueFd output = open_file(meeting.output_path(), O_WRONLY | O_CREAT).value();
      dup2(output.get(), 1);
      dup2(output.get(), 2);
      execvp("gdb", const_cast<char* const*>(arguments.data()));
      _exit(127);
    }
    UniqueFd ended(static_cast<int>(syscall(SYS_pidfd_open, gdb_, 0)));
    CHECK(ended.valid());
    UniqueFd connection = meeting.accept(ended.get());
    EXPECT_TRUE(connection.valid()) << "gdb did not come";
    if (connection.valid()) serve(RemoteServer(std::move(connection), target, stop));
    int status = 0;
    waitpid(gdb_, &status, 0);
    std::string output = read_file(meeting.output_path()).value_or("");
    EXPECT_EQ(status, 0) << output;
    return output;
  }

  /// Each of `parts` occurs in `text`, behind the one before.
  static void expect_in_order(const std::string& text, const std::vector<std::string>& parts) {
    size_t place = 0;
    for (const std::string& part : parts) {
      size_t found = text.find(part, place);
      ASSERT_NE(found, std::string::npos) << "no \"" << part << "\" from offset " << place << " on in:\n"
                                          << text;
      place = found + part.size();
    }
  }

  Requests::Leave leave_ = Requests::Leave::kNone;
  std::function<void()> on_signal_;  ///< is done between two requests, when SIGUSR2 has come
  pid_t gdb_ = 0;                    ///< the one that runs
  int connection_ = -1;              ///< its

 private:
  void serve(RemoteServer server) {
    connection_ = server.fd();
    do {
      pollfd ready{server.fd(), POLLIN, 0};
      poll(&ready, 1, -1);
      if (signaled.exchange(false)) on_signal_();
    } while (server.serve());
    leave_ = server.leave();
  }
};

TEST_F(RemoteGdb, BreaksAndLooks) {
  PtraceTarget target(REMOTE_SUBJECT);
  std::string output =
      run(target, {"break add", "continue", "bt", "info locals", "info args", "next", "info locals",
                   "print left + right * 10", "x/2dw &left", "up", "print point", "info breakpoints"});
  expect_in_order(output,
                  {"Breakpoint 1, add (left=1, right=2)", "18\t", "#0  add (left=1, right=2)", "#1 ",
                   "in main ()", "remote_subject.c:44", "sum = ", "left = 1", "right = 2", "19\t", "sum = 3",
                   "$1 = 21", ":\t1\t", "#1 ", "$2 = {x = 3, y = 4, weight = 1.25}", "already hit 1 time"});
  EXPECT_EQ(leave_, Requests::Leave::kDetached);
}

TEST_F(RemoteGdb, FixedAddressesToo) {
  PtraceTarget target(REMOTE_SUBJECT_FIXED);
  std::string output =
      run(target, {"break weigh", "continue", "print *point", "info sharedlibrary", "detach"});
  expect_in_order(output,
                  {"Breakpoint 1, weigh (", "{x = 3, y = 4, weight = 1.25}", "libc.so.6", "detached"});
}

TEST_F(RemoteGdb, Steps) {
  PtraceTarget target(REMOTE_SUBJECT);
  std::string output =
      run(target, {"break 44", "continue", "step", "stepi", "nexti", "finish", "next", "next", "tbreak add",
                   "continue", "finish", "until 48", "print first", "advance weigh", "info source"});
  expect_in_order(output, {"main () at", "44\t", "add (left=1, right=2)", "Value returned is $1 = 3", "45\t",
                           "46\t", "Temporary breakpoint 2, add (left=3, right=0)",
                           "Value returned is $2 = 3", "48\t", "$3 = 28", "weigh (point="});
}

TEST_F(RemoteGdb, Changes) {
  PtraceTarget target(REMOTE_SUBJECT);
  std::string output = run(target, {"break 19", "continue", "set var sum = 1000", "next", "print total",
                                    "delete", "print add(20, 22)", "print weigh(&(struct point){1, 2, 2.5})",
                                    "set var total = -5", "print $rax = 0x1234", "print $rax",
                                    "print $xmm0.v2_double[0] = 6.5", "print $xmm0.v2_double[0]", "jump 20"});
  expect_in_order(output,
                  {"19\t", "20\t", "$1 = 1000", "$2 = 42", "$3 = 4660", "$4 = 4660", "= 6.5", "= 6.5"});
}

TEST_F(RemoteGdb, Watches) {
  PtraceTarget target(REMOTE_SUBJECT);
  std::string output =
      run(target, {"break main", "continue", "watch total", "continue", "continue", "delete 2",
                   "awatch total", "continue", "delete 3", "hbreak weigh", "continue"});
  expect_in_order(output,
                  {"Hardware watchpoint 2: total", "Old value = 0", "New value = 3", "add (left=1, right=2)",
                   "Old value = 3", "New value = 6", "Hardware access (read/write) watchpoint 3: total",
                   "Value = ", "Hardware assisted breakpoint 4", "Breakpoint 4, weigh ("});
}

TEST_F(RemoteGdb, ShowsThreadsAndRegisters) {
  PtraceTarget target(REMOTE_SUBJECT);
  std::string output =
      run(target, {"break 43", "continue", "info threads", "thread apply all bt 3", "thread 2", "up 1000",
                   "thread 1", "info registers rip eflags fs_base orig_rax", "info float",
                   "info all-registers", "thread find p1.2"});
  expect_in_order(output, {"* 1 ", "\"p1.1\"", "main () at", "  2 ", "\"p1.2\"", "Thread 2", "wait_for_end",
                           "Thread 1", "main ()", "<main+", "eflags", "[ ", "fs_base", "orig_rax",
                           "R7: Empty", "xmm15", "mxcsr", "Thread 2 has target name 'p1.2'"});
}

TEST_F(RemoteGdb, FindsWhatIsThreadLocal) {
  for (const char* program : {REMOTE_SUBJECT, REMOTE_SUBJECT_FIXED, REMOTE_SUBJECT_STATIC}) {
    PtraceTarget target(program);
    std::string output = run(target, {"break add", "continue", "print mine", "thread 2", "print mine",
                                      "set var mine = 9", "print mine", "thread 1", "print mine"});
    expect_in_order(output, {"$1 = 7", "$2 = 8", "$3 = 9", "$4 = 7"});
  }
}

TEST_F(RemoteGdb, SeesSignalsAndTheEnd) {
  PtraceTarget target(REMOTE_SUBJECT);
  std::string output = run(target, {"continue", "signal 0", "info threads"});
  expect_in_order(output,
                  {"Thread 1 \"p1.1\" received signal SIGUSR1", "exited with code 03", "No threads."});
  PtraceTarget killed(REMOTE_SUBJECT);
  output = run(killed, {"continue", "continue"});
  expect_in_order(output,
                  {"Thread 1 \"p1.1\" received signal SIGUSR1", "Program terminated with signal SIGUSR1"});
}

TEST_F(RemoteGdb, ComesAgain) {
  PtraceTarget target(REMOTE_SUBJECT);
  std::string output = run(target, {"break weigh", "continue"});
  expect_in_order(output, {"Breakpoint 1, weigh ("});
  output = run(target, {"bt", "finish", "kill"});
  expect_in_order(output, {"weigh (point=", "Value returned is $1 = 2.5"});
  EXPECT_EQ(leave_, Requests::Leave::kKilled);
}

/// The owner may move the process while gdb does not look; gdb only has to forget what it knows.
TEST_F(RemoteGdb, FollowsWhatWasMoved) {
  PtraceTarget target(REMOTE_SUBJECT);
  std::signal(SIGUSR2, [](int) { signaled = true; });
  on_signal_ = [&] {
    pid_t thread = target.current();
    for (int i = 0; i < 12; ++i) target.resume({{.kind = Resume::Kind::kStep, .thread = thread}});
  };
  std::string output = run(
      target, {"break 44", "continue", "bt", fmt::format("shell kill -USR2 {}", getpid()), "bt",
               "maintenance flush register-cache", "maintenance flush dcache", "echo now:", "bt", "finish"});
  std::signal(SIGUSR2, SIG_DFL);
  expect_in_order(output, {"#0  main ()", "#0  main ()", "now:#0 ", " add (left=1, right=2)", "#1 ",
                           "Value returned is $1 = 3"});
}

TEST_F(RemoteGdb, NamesSignalsAsLinuxDoes) {
  class Signaled : public PtraceTarget {
   public:
    using PtraceTarget::PtraceTarget;
    Stop resume(const std::vector<Resume>&) override { return {.signal = ++last, .point = {}, .ended = {}}; }
    int last = 0;
  };
  Signaled target(REMOTE_SUBJECT);
  std::vector<std::string> commands{"handle all stop print"}, names;
  for (int number = 1; number <= 64; ++number) {
    commands.push_back("continue");
    std::string name = "SIG" + (number < 32 ? sigabbrev_np(number) : std::to_string(number));
    if (number == SIGSTKFLT) name = "?";  // gdb does not know it
    if (number == SIGIO) name = "SIGIO";  // and not SIGPOLL
    names.push_back(" received signal " + name + ",");
  }
  expect_in_order(run(target, commands), names);
}

/// gdb's user has pressed Ctrl-C: the owner sees that gdb says something, and gives the process back.
TEST_F(RemoteGdb, MayBeInterrupted) {
  class Interrupted : public PtraceTarget {
   public:
    using PtraceTarget::PtraceTarget;
    Stop resume(const std::vector<Resume>&) override {
      interrupt();
      return {.signal = SIGINT, .point = {}, .ended = {}};
    }
    std::function<void()> interrupt;
  };
  Interrupted target(REMOTE_SUBJECT);
  target.interrupt = [&] {
    kill(gdb_, SIGINT);
    pollfd ready{connection_, POLLIN, 0};
    while (poll(&ready, 1, -1) < 0) CHECK(errno == EINTR);
  };
  std::string output = run(target, {"continue", "print/x $cs", "continue", "print/x $ss"});
  expect_in_order(output, {"received signal SIGINT", "= 0x33", "received signal SIGINT", "= 0x2b"});
}

TEST_F(RemoteGdb, SaysNothingToComplainAbout) {
  PtraceTarget target(REMOTE_SUBJECT);
  std::string output = run(target, {"break add", "continue", "info threads", "info auxv"});
  EXPECT_EQ(output.find("warning"), std::string::npos) << output;
  expect_in_order(output, {"AT_ENTRY"});
}

}  // namespace
}  // namespace pastcone::gdb

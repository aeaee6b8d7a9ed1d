#include "pastcone/replay/tracee.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace pastcone::replay {
namespace {

/// A child that executes `program` once it is told to; where that fails, it exits with 42.
class Child {
 public:
  explicit Child(const char* program) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    id_ = fork();
    if (id_ == 0) {
      char byte;
      close(ends[1]);
      if (read(ends[0], &byte, 1) == 1) execl(program, program, static_cast<char*>(nullptr));
      _exit(42);
    }
    close(ends[0]);
    go_ = ends[1];
  }
  ~Child() {
    close(go_);
    kill(id_, SIGKILL);
    waitpid(id_, nullptr, 0);
  }

  pid_t id() const { return id_; }
  void go() const { ASSERT_EQ(write(go_, "x", 1), 1); }

 private:
  pid_t id_;
  int go_;
};

Tracee::State wait_until_it_stops(Tracee& tracee) {
  Tracee::State state;
  while ((state = tracee.look()) == Tracee::State::kRunning) usleep(100);
  return state;
}

TEST(Tracee, MakesCallsBeforeItsFirstInstruction) {
  Child child("/bin/true");
  auto tracee = Tracee::seize(child.id(), child.id());
  if (!tracee) GTEST_SKIP() << tracee.error().message;
  EXPECT_EQ(tracee->look(), Tracee::State::kRunning);
  child.go();
  ASSERT_EQ(wait_until_it_stops(*tracee), Tracee::State::kExecuted);
  uint64_t entry = tracee->registers().rip, first = 0;
  ASSERT_TRUE(tracee->read(entry, &first, sizeof first));
  uint64_t before = tracee->registers().rsp - 64, word = 0;
  ASSERT_TRUE(tracee->put_instruction(entry));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(tracee->call(SYS_getpid, {}), child.id());
  EXPECT_EQ(tracee->call(SYS_close, {9999}), -EBADF);
  EXPECT_EQ(tracee->call(SYS_clock_gettime, {CLOCK_MONOTONIC, before}), 0);
  ASSERT_TRUE(tracee->read(before, &word, sizeof word));
  EXPECT_NE(word, 0u);
  EXPECT_FALSE(tracee->read(8, &word, sizeof word));

  // With its code as it was, it runs as if nothing had been.
  uint64_t page = entry & ~uint64_t{4095};
  EXPECT_EQ(tracee->call(SYS_mprotect, {page, 4096, 7}), 0);
  ASSERT_TRUE(tracee->write(entry, ByteView(reinterpret_cast<uint8_t*>(&first), sizeof first)));
  ASSERT_TRUE(tracee->go_on(entry));
  int status = 0;
  ASSERT_EQ(waitpid(child.id(), &status, 0), child.id());
  EXPECT_EQ(status, 0);
}

TEST(Tracee, IsLetGoUnharmed) {
  Child child("/bin/false");
  {
    auto tracee = Tracee::seize(child.id(), child.id());
    if (!tracee) GTEST_SKIP() << tracee.error().message;
  }
  child.go();
  int status = 0;
  ASSERT_EQ(waitpid(child.id(), &status, 0), child.id());
  EXPECT_EQ(WEXITSTATUS(status), 1);
}

TEST(Tracee, TellsThatItEnded) {
  Child child("/no/such/program");
  auto tracee = Tracee::seize(child.id(), child.id());
  if (!tracee) GTEST_SKIP() << tracee.error().message;
  child.go();
  ASSERT_EQ(wait_until_it_stops(*tracee), Tracee::State::kEnded);
  ASSERT_TRUE(tracee->status());
  EXPECT_EQ(WEXITSTATUS(*tracee->status()), 42);
}

TEST(Tracee, CannotBeOurselves) { EXPECT_FALSE(Tracee::seize(getpid(), getpid())); }

}  // namespace
}  // namespace pastcone::replay

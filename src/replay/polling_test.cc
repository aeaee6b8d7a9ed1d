#include "pastcone/replay/polling.h"

#include <gtest/gtest.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace pastcone::replay {
namespace {

using namespace std::chrono_literals;

/// Is in the kernel all the time, or never, until it is ended. It does not yield: on a busy machine one that
/// does gets no time at all, of either kind.
class Child {
 public:
  explicit Child(bool asks) : pid_(fork()) {
    static char bytes[65536];
    while (pid_ == 0) {
      if (asks) (void)!getrandom(bytes, sizeof bytes, 0);
    }
  }
  Child(const Child&) = delete;
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(Polling, OneThatOnlyAsksIsFound) {
  Child asks(true);
  Polling polling(100ms);
  EXPECT_FALSE(polling.only({asks.pid()}));
  for (int i = 0; i < 3000 && !polling.only({asks.pid()}); ++i) usleep(10000);
  EXPECT_TRUE(polling.only({asks.pid()}));
  polling.forget();
  EXPECT_FALSE(polling.only({asks.pid()}));
}

TEST(Polling, OneThatComputesMayChangeWhatAnotherAsksFor) {
  Child asks(true), computes(false);
  Polling polling(100ms);
  for (int i = 0; i < 3000 && !polling.only({asks.pid()}); ++i) {
    EXPECT_FALSE(polling.only({asks.pid(), computes.pid()}));
    usleep(10000);
  }
  EXPECT_TRUE(polling.only({asks.pid()}));
  EXPECT_FALSE(polling.only({asks.pid(), computes.pid()}));
  EXPECT_FALSE(polling.only({}));
}

TEST(Polling, OnlyTimeOnAProcessorCounts) {
  Child starved(false), computes(false);
  kill(starved.pid(), SIGSTOP);
  int status = 0;
  ASSERT_EQ(waitpid(starved.pid(), &status, WUNTRACED), starved.pid());
  Polling polling(100ms);
  EXPECT_EQ(polling.longest({starved.pid(), computes.pid()}), 0ms);
  for (int i = 0; i < 3000 && polling.longest({starved.pid(), computes.pid()}) < 300ms; ++i) usleep(10000);
  EXPECT_GE(polling.longest({starved.pid(), computes.pid()}), 300ms);
  EXPECT_EQ(polling.longest({starved.pid()}), 0ms);
  EXPECT_EQ(polling.longest({}), 0ms);
  polling.forget();
  EXPECT_LT(polling.longest({computes.pid()}), 300ms);
}

}  // namespace
}  // namespace pastcone::replay

#include "pastcone/replay/polling.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace pastcone::replay {
namespace {

using namespace std::chrono_literals;

/// Yields, or computes, until it is ended.
class Child {
 public:
  explicit Child(bool yields) : pid_(fork()) {
    while (pid_ == 0) {
      if (yields) sched_yield();
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

TEST(Polling, OneThatOnlyYieldsIsFound) {
  Child yields(true);
  Polling polling(100ms);
  EXPECT_FALSE(polling.only({yields.pid()}));
  for (int i = 0; i < 3000 && !polling.only({yields.pid()}); ++i) usleep(10000);
  EXPECT_TRUE(polling.only({yields.pid()}));
  polling.forget();
  EXPECT_FALSE(polling.only({yields.pid()}));
}

TEST(Polling, OneThatComputesMayChangeWhatAnotherAsksFor) {
  Child yields(true), computes(false);
  Polling polling(100ms);
  for (int i = 0; i < 3000 && !polling.only({yields.pid()}); ++i) {
    EXPECT_FALSE(polling.only({yields.pid(), computes.pid()}));
    usleep(10000);
  }
  EXPECT_TRUE(polling.only({yields.pid()}));
  EXPECT_FALSE(polling.only({yields.pid(), computes.pid()}));
  EXPECT_FALSE(polling.only({}));
}

}  // namespace
}  // namespace pastcone::replay

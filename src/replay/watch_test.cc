// Real processes that wait on a futex of the stage, as replayed ones do.
#include "pastcone/replay/watch.h"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <ctime>
#include <functional>

#include "pastcone/record/shared_stage.h"
#include "pastcone/replay/surroundings.h"

namespace pastcone::replay {
namespace {

using stage::ThreadState;

class WatchTest : public testing::Test {
 protected:
  ~WatchTest() override {
    for (pid_t child : children_) kill(child, SIGKILL);
    for (pid_t child : children_) waitpid(child, nullptr, 0);
  }
  void set(uint32_t slot, ThreadState state) {
    record::store(view_.thread(slot).state, static_cast<uint32_t>(state));
  }
  /// A process for slot `slot`, all in the first one's session.
  pid_t start(uint32_t slot, const std::function<void()>& body) {
    pid_t child = fork();
    if (child == 0) {
      if (children_.empty()) setsid();
      view_.thread(slot).tid = static_cast<uint32_t>(getpid());
      view_.thread(slot).process = slot + 1;
      view_.thread(slot).thread = 1;
      view_.thread(slot).events_size = 1;
      body();
      _exit(0);
    }
    if (!children_.empty()) setpgid(child, 0);
    children_.push_back(child);
    return child;
  }
  void wait_forever(uint32_t slot) {
    set(slot, ThreadState::kWaiting);
    while (record::load(view_.group(0).futex) == 0) {
      syscall(SYS_futex, &view_.group(0).futex, FUTEX_WAIT, 0, nullptr, nullptr, 0);
    }
    set(slot, ThreadState::kRunning);
    __atomic_fetch_add(&view_.header().progress, 1, __ATOMIC_SEQ_CST);
  }
  static void wait_until(const std::function<bool()>& ready) {
    for (int i = 0; i < 2000 && !ready(); ++i) usleep(1000);
    EXPECT_TRUE(ready());
  }
  bool is_waiting(uint32_t slot) const {
    return record::load(view_.thread(slot).state) == static_cast<uint32_t>(ThreadState::kWaiting);
  }

  record::SharedStage stage_ = record::SharedStage::create(stage::Mode::kReplay, 0, "/tmp").value();
  stage::View view_ = stage_.view();
  std::vector<pid_t> children_;
};

/// The whole family is forked by the first process, so that it is in its session.
TEST_F(WatchTest, StuckIfAllSleepInAWait) {
  pid_t leader = start(0, [this] {
    pid_t second = fork();
    uint32_t slot = second == 0 ? 1 : 0;
    view_.thread(slot).tid = static_cast<uint32_t>(getpid());
    view_.thread(slot).process = slot + 1;
    view_.thread(slot).thread = 1;
    view_.thread(slot).events_size = 1;
    if (slot == 0) set(0, ThreadState::kRunning);
    if (slot == 0) {
      while (record::load(view_.header().give_up) == 0) usleep(1000);
    }
    wait_forever(slot);
    if (slot == 0) waitpid(second, nullptr, 0);
    _exit(0);
  });
  Session session(leader);
  Watch watch(view_, 2, 2);
  wait_until([this] { return is_waiting(1); });
  EXPECT_FALSE(watch.is_stuck(session));  // the other one is running
  record::store(view_.header().give_up, uint32_t{1});
  wait_until([this] { return is_waiting(0); });
  wait_until([&] { return watch.is_stuck(session); });
  auto waiting = watch.waiting();
  ASSERT_EQ(waiting.size(), 2u);
  EXPECT_EQ(waiting[0].event.process(), ProcessId(1));
  EXPECT_EQ(session.processes().size(), 2u);
  session.kill_all();
  wait_until([&] { return session.processes().empty(); });
}

TEST_F(WatchTest, AProcessThatDiedInsideDoesNotHideThatTheOthersWait) {
  pid_t leader = start(0, [this] {
    pid_t second = fork();
    if (second == 0) {
      view_.thread(1).tid = static_cast<uint32_t>(getpid());
      view_.thread(1).process = 2;
      view_.thread(1).thread = 1;
      view_.thread(1).events_size = 1;
      view_.thread(1).event = 17;
      set(1, ThreadState::kRunning);
      raise(SIGKILL);
    }
    wait_forever(0);
    _exit(0);
  });
  Session session(leader);
  Watch watch(view_, 2, 2);
  wait_until([this] { return is_waiting(0) && view_.thread(1).tid != 0; });
  wait_until([&] { return watch.is_stuck(session); });
  auto died = watch.died(session);
  ASSERT_EQ(died.size(), 1u);
  EXPECT_EQ(to_string(died[0]), "p2:17 diverged: it ended before its recording does");
}

/// Between what it says itself and the kernel's word that it is gone, for which others wait.
TEST_F(WatchTest, OneThatHasEndedButIsNotGoneYetMayBeWaitedFor) {
  pid_t leader = start(0, [this] {
    if (fork() == 0) {
      set(1, ThreadState::kEnded);
      record::store(view_.thread(1).tid, static_cast<uint32_t>(getpid()));
      while (record::load(view_.header().give_up) == 0) {
      }
      _exit(0);
    }
    signal(SIGCHLD, SIG_IGN);
    wait_forever(0);
  });
  Session session(leader);
  Watch watch(view_, 2, 2);
  wait_until([this] { return is_waiting(0) && view_.thread(1).tid != 0; });
  for (int i = 0; i < 20; ++i) EXPECT_FALSE(watch.is_stuck(session));
  record::store(view_.header().give_up, uint32_t{1});
  wait_until([&] { return watch.is_stuck(session); });
}

TEST_F(WatchTest, WhoWaitsForAThreadIsNotNamedBeforeWhatThatOneWaitsFor) {
  using stage::WaitKind;
  WaitKind kinds[] = {WaitKind::kJoin, WaitKind::kTurn, WaitKind::kOrder};
  for (uint32_t slot = 0; slot < 3; ++slot) {
    stage::ThreadSlot& thread = view_.thread(slot);
    thread.process = 1;
    thread.thread = slot + 1;
    thread.events_size = 1;
    thread.event = 7;
    thread.wait_kind = static_cast<uint32_t>(kinds[slot]);
    thread.wait_for = 0xabcd0;
    thread.wait_position = 4;
    set(slot, ThreadState::kWaiting);
  }
  Watch watch(view_, 1, 3);
  auto waiting = watch.waiting();
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_EQ(to_string(waiting[0]),
            "p1.3:7 diverged: it waits until the lock at 0xabcd0 was used 4 times, which does not happen");
}

TEST_F(WatchTest, OneThatIsJustStartingMayStillDoSomething) {
  pid_t leader = start(0, [this] {
    if (fork() == 0) {
      for (;;) pause();  // has no slot yet
    }
    wait_forever(0);
  });
  Session session(leader);
  Watch watch(view_, 1, 1);
  wait_until([&] { return is_waiting(0) && session.processes().size() == 2; });
  usleep(10'000);
  EXPECT_FALSE(watch.is_stuck(session));
  session.kill_all();
}

TEST_F(WatchTest, WhoDidNotArriveIsNamedOncePerProcess) {
  for (uint32_t slot = 0; slot < 4; ++slot) {
    view_.thread(slot).process = slot < 2 ? 1 : slot;
    view_.thread(slot).thread = slot == 1 ? 2 : 1;
    view_.thread(slot).events_size = slot == 3 ? 0 : 10;
  }
  Watch watch(view_, 3, 4);
  Session session(-1);
  set(0, ThreadState::kRunning);
  set(1, ThreadState::kRunning);
  EXPECT_EQ(watch.unfinished(session).size(), 2u);
  EXPECT_EQ(watch.unfinished_threads(), 3u);
  set(0, ThreadState::kEnded);
  set(1, ThreadState::kAtEnd);
  auto unfinished = watch.unfinished(session);
  ASSERT_EQ(unfinished.size(), 1u);
  EXPECT_EQ(to_string(unfinished[0]), "p2:1 diverged: it was never started");
}

TEST_F(WatchTest, TheTurnBeforeALostOneIsTheLastThatWasWrittenDown) {
  EXPECT_EQ(view_.turn_before(3, 10), 9u);
  const stage::TurnGap gaps[] = {{2, 4, 7}, {3, 1, 5}, {3, 5, 10}, {9, 8, 10}};
  for (const stage::TurnGap& gap : gaps) view_.turn_gap(view_.header().turn_gaps++) = gap;
  EXPECT_EQ(view_.turn_before(2, 7), 4u);
  EXPECT_EQ(view_.turn_before(3, 5), 1u);
  EXPECT_EQ(view_.turn_before(3, 10), 5u);
  EXPECT_EQ(view_.turn_before(3, 7), 6u);
  EXPECT_EQ(view_.turn_before(9, 10), 8u);
  EXPECT_EQ(view_.turn_before(4, 10), 9u);
}

TEST(MissingAbilities, OnlyInstructionsCount) {
  EXPECT_TRUE(missing_abilities({"sse2", "avx2"}, {"sse2", "avx2", "avx512f"}).empty());
  EXPECT_EQ(missing_abilities({"sse2", "avx2", "ibrs", "hypervisor", "sha_ni"}, {"sse2"}),
            (std::vector<std::string>{"avx2", "sha_ni"}));
}

}  // namespace
}  // namespace pastcone::replay

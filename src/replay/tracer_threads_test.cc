// Threads that come, go and pass points at once.
#include <sys/syscall.h>

#include <set>
#include <thread>

#include "pastcone/replay/testing/tracer_fixture.h"

namespace pastcone::replay {
namespace {

TEST_F(TracerTest, MissesNobodyOfManyThreads) {
  constexpr int kThreads = 4, kTimes = 300;
  pid_t child = start([&] { return pass_in_threads(kThreads, kTimes, gate_->word); });
  // At an instruction that has to be executed, with a watchpoint besides.
  ASSERT_TRUE(tracer_.add_break(child, address_of(&tracer_subject_second)));
  for (int i = 0; i < kThreads; ++i) ASSERT_TRUE(tracer_.add_watch(child, address_of(&watched[i]), 8));
  int breaks = 0, writes = 0;
  std::set<pid_t> threads;
  tracer_.filter = [&](const TraceStop& hit) {
    hit.kind == Kind::kBreak ? ++breaks : ++writes;
    threads.insert(hit.thread);
    return false;
  };
  expect_end(child);
  EXPECT_EQ(breaks, kThreads * kTimes);
  EXPECT_EQ(writes, kThreads * kTimes);
  EXPECT_EQ(threads.size(), static_cast<size_t>(kThreads));
}

TEST_F(TracerTest, StopsAllThreadsAtEachHit) {
  constexpr int kThreads = 4, kTimes = 40;
  pid_t child = start([&] { return pass_in_threads(kThreads, kTimes, gate_->word); });
  ASSERT_TRUE(tracer_.add_break(child, address_of(&tracer_subject_second)));
  for (int i = 0; i < kThreads; ++i) ASSERT_TRUE(tracer_.add_watch(child, address_of(&watched[i]), 8));
  int breaks = 0, writes = 0;
  for (;;) {
    TraceStop stop = go_on(child);
    if (stop.kind == Kind::kEnded) {
      EXPECT_EQ(stop.status, 0);
      break;
    }
    ASSERT_TRUE(stop.kind == Kind::kBreak || stop.kind == Kind::kWatch);
    stop.kind == Kind::kBreak ? ++breaks : ++writes;
    for (pid_t thread : tracer_.threads(child)) EXPECT_TRUE(tracer_.registers(thread));
  }
  EXPECT_EQ(breaks, kThreads * kTimes);
  EXPECT_EQ(writes, kThreads * kTimes);
}

TEST_F(TracerTest, StopsWhoComesAndGoes) {
  pid_t child = start([&] {
    for (int i = 0; i < 400; ++i) {
      std::thread one([] { pass(1); });
      std::thread([] {}).detach();
      one.join();
    }
    return counter == 400 ? 0 : 1;
  });
  bool ended = false;
  for (int asked = 0; !ended;) {
    tracer_.go_on(child);
    auto until = std::chrono::steady_clock::now() + std::chrono::microseconds(asked * 37 % 1000);
    while (std::chrono::steady_clock::now() < until) session_.reap();
    if (++asked <= 200) tracer_.ask_to_stop(child);
    TraceStop stop = next();
    ended = stop.kind == Kind::kEnded;
    if (ended)
      EXPECT_EQ(stop.status, 0);
    else
      EXPECT_EQ(stop.kind, Kind::kAsked);
  }
}

TEST_F(TracerTest, KnowsAFirstThreadThatEndsFirst) {
  pid_t child = start([&] {
    std::thread([&] {
      while (gate_->word == 0) usleep(100);
      pass(1);
      _exit(7);
    }).detach();
    syscall(SYS_exit, 0);
    return 1;
  });
  tracer_.go_on(child);
  while (Session::thread_state(child)) session_.reap(1ms);
  tracer_.ask_to_stop(child);
  EXPECT_EQ(next().kind, Kind::kAsked);
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  gate_->word = 1;
  EXPECT_EQ(go_on(child).kind, Kind::kBreak);
  tracer_.let_go(child);
  EXPECT_EQ(collect(child), 7 << 8);
}

}  // namespace
}  // namespace pastcone::replay

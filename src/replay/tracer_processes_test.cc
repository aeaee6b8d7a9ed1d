// Processes: children, what others do to them, their ends.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <set>
#include <thread>

#include "pastcone/replay/testing/tracer_fixture.h"

namespace pastcone::replay {
namespace {

TEST_F(TracerTest, LetsChildrenGoWithoutPoints) {
  pid_t child = start([] {
    for (int i = 0; i < 20; ++i) {
      pid_t grandchild = fork();
      if (grandchild == 0) {
        pass(1);
        watched[0] = 1;
        _exit(9);
      }
      int status = 0;
      if (waitpid(grandchild, &status, 0) != grandchild || status != 9 << 8) return 1;
    }
    pass(2);
    return 0;
  });
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  ASSERT_TRUE(tracer_.add_watch(child, address_of(&watched[0]), 8));
  TraceStop stop = go_on(child);
  EXPECT_EQ(stop.kind, Kind::kBreak);
  EXPECT_EQ(stop.process, child);
  EXPECT_EQ(registers(child).rdi, 2u);
  expect_end(child);
}

TEST_F(TracerTest, TracesChildren) {
  pid_t grandchild = 0;
  tracer_.on_fork = [&](pid_t, pid_t forked) {
    grandchild = forked;
    EXPECT_TRUE(tracer_.stands(forked));
    EXPECT_TRUE(tracer_.add_break(forked, address_of(&tracer_subject_second)));
    tracer_.go_on(forked);
  };
  pid_t child = start([] {
    pid_t forked = fork();
    pass(1);
    if (forked == 0) {
      tracer_subject_steps();
      _exit(3);
    }
    int status = 0;
    waitpid(forked, &status, 0);
    tracer_subject_steps();
    return status == 3 << 8 ? 0 : 1;
  });
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  tracer_.go_on(child);
  std::set<pid_t> stopped;
  for (int i = 0; i < 2; ++i) {
    TraceStop stop = next();
    ASSERT_EQ(stop.kind, Kind::kBreak);
    EXPECT_EQ(stop.address, stop.process == child ? address_of(pass) : address_of(&tracer_subject_second));
    stopped.insert(stop.process);
  }
  EXPECT_EQ(stopped, (std::set<pid_t>{child, grandchild}));
  TraceStop end = go_on(grandchild);
  EXPECT_EQ(end.kind, Kind::kEnded);
  EXPECT_EQ(end.status, 3 << 8);
  expect_end(child);
}

int pass_in_vfork() {
  for (int i = 0; i < 3; ++i) {
    pid_t forked = vfork();
    if (forked == 0) {
      pass(1);
      tracer_subject_steps();
      _exit(5);
    }
    int status = 0;
    if (waitpid(forked, &status, 0) != forked || status != 5 << 8) return 1;
    pass(10);
  }
  return counter == 33 ? 0 : 1;
}

TEST_F(TracerTest, DoesNotKillTheChildOfAVfork) {
  pid_t child = start(pass_in_vfork);
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  ASSERT_TRUE(tracer_.add_break(child, address_of(&tracer_subject_second)));
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(go_on(child).kind, Kind::kBreak);
    EXPECT_EQ(registers(child).rdi, 10u);
  }
  expect_end(child);
}

TEST_F(TracerTest, TracesTheChildOfAVfork) {
  int children = 0, hits = 0;
  tracer_.on_fork = [&](pid_t, pid_t forked) {
    ++children;
    EXPECT_TRUE(tracer_.add_break(forked, address_of(&tracer_subject_second)));
    tracer_.go_on(forked);
  };
  tracer_.filter = [&](const TraceStop& hit) {
    ++hits;
    EXPECT_EQ(hit.address == address_of(pass), hit.process == children_[0]);
    return false;
  };
  pid_t child = start(pass_in_vfork);
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  tracer_.go_on(child);
  for (int i = 0; i < 3; ++i) {
    TraceStop stop = next();
    EXPECT_EQ(stop.kind, Kind::kEnded);
    EXPECT_EQ(stop.status, 5 << 8);
  }
  TraceStop stop = next();
  EXPECT_EQ(stop.process, child);
  EXPECT_EQ(stop.status, 0);
  EXPECT_EQ(children, 3);
  EXPECT_EQ(hits, 6);
}

TEST_F(TracerTest, CannotStopWhoWaitsForAVfork) {
  pid_t forked_child = 0;
  tracer_.on_fork = [&](pid_t, pid_t forked) { forked_child = forked; };  // it stays
  pid_t child = start(pass_in_vfork);
  tracer_.go_on(child);
  while (forked_child == 0) session_.reap(1ms);
  tracer_.ask_to_stop(child);
  EXPECT_EQ(next().kind, Kind::kAsked);
  EXPECT_TRUE(tracer_.stands(child));
  EXPECT_FALSE(tracer_.registers(child));
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  ASSERT_TRUE(tracer_.add_watch(child, address_of(&counter), 8));
  tracer_.on_fork = nullptr;
  tracer_.let_go(forked_child);
  TraceStop stop = go_on(child);
  EXPECT_EQ(stop.kind, Kind::kBreak);
  EXPECT_EQ(stop.process, child);
  EXPECT_EQ(go_on(child).kind, Kind::kWatch);
  tracer_.let_go(child);
  EXPECT_EQ(collect(child), 0);
}

TEST_F(TracerTest, LetsGoWhoWaitsForAVfork) {
  pid_t forked_child = 0;
  tracer_.on_fork = [&](pid_t, pid_t forked) { forked_child = forked; };
  pid_t child = start(pass_in_vfork);
  ASSERT_TRUE(tracer_.add_watch(child, address_of(&counter), 8));
  tracer_.go_on(child);
  while (forked_child == 0) session_.reap(1ms);
  tracer_.on_fork = nullptr;
  tracer_.let_go(child);
  EXPECT_FALSE(tracer_.traces(child));
  tracer_.let_go(forked_child);
  EXPECT_EQ(collect(child), 0);
}

TEST_F(TracerTest, LeavesStopsByOthersAlone) {
  pid_t child = start([&] {
    while (gate_->word == 0) usleep(100);
    return 0;
  });
  tracer_.go_on(child);
  kill(child, SIGSTOP);
  auto stopped = [&] {
    session_.reap(1ms);
    return Session::thread_state(child) == 't' || Session::thread_state(child) == 'T';
  };
  while (!stopped()) {
  }
  gate_->word = 1;
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(stopped());
  // Stops and goes on for us without going on for itself.
  tracer_.ask_to_stop(child);
  EXPECT_EQ(next().kind, Kind::kAsked);
  EXPECT_TRUE(tracer_.registers(child));
  tracer_.go_on(child);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(stopped());
  tracer_.ask_to_stop(child);
  EXPECT_EQ(next().kind, Kind::kAsked);
  tracer_.let_go(child);
  while (Session::thread_state(child) != 'T') usleep(100);
  kill(child, SIGCONT);
  EXPECT_EQ(collect(child), 0);
}

TEST_F(TracerTest, DoesNotDisturbCallsThatWait) {
  pid_t child = start([&] {
    static uint32_t futex;
    timespec time{30, 0};
    std::thread waker([&] {
      while (gate_->word == 0) usleep(100);
      futex = 1;
      syscall(SYS_futex, &futex, FUTEX_WAKE, 1, nullptr, nullptr, 0);
    });
    gate_->begun = 2;
    long result = syscall(SYS_futex, &futex, FUTEX_WAIT, 0, &time, nullptr, 0);
    waker.join();
    return result == 0 || errno == EAGAIN ? 0 : errno;  // begun again after it was woken
  });
  tracer_.go_on(child);
  while (gate_->begun != 2) session_.reap(1ms);
  for (int i = 0; i < 50; ++i) {
    session_.reap(1ms);
    tracer_.ask_to_stop(child);
    ASSERT_EQ(next().kind, Kind::kAsked);
    if (i == 25) {
      // A breakpoint where the call will come back.
      ASSERT_TRUE(tracer_.add_break(child, registers(child).rip));
    }
    tracer_.go_on(child);
  }
  gate_->word = 1;
  TraceStop stop = next();
  if (stop.kind == Kind::kBreak) stop = go_on(child);
  while (stop.kind == Kind::kBreak) stop = go_on(child);
  EXPECT_EQ(stop.kind, Kind::kEnded);
  EXPECT_EQ(stop.status, 0);
}

TEST_F(TracerTest, SeesThatItIsKilled) {
  pid_t child = start([] {
    std::vector<std::thread> all;
    for (int i = 0; i < 3; ++i) {
      all.emplace_back([] {
        for (;;) tracer_subject_steps();
      });
    }
    for (;;) tracer_subject_steps();
    return 0;
  });
  ASSERT_TRUE(tracer_.add_break(child, address_of(&tracer_subject_second)));
  int hits = 0;
  tracer_.filter = [&](const TraceStop& hit) {
    if (++hits == 200) kill(hit.process, SIGKILL);
    return false;
  };
  TraceStop stop = go_on(child);
  EXPECT_EQ(stop.kind, Kind::kEnded);
  EXPECT_EQ(stop.status, SIGKILL);
  EXPECT_EQ(collect(child), SIGKILL);
}

TEST_F(TracerTest, SeesThatItIsKilledWhileItStands) {
  pid_t child = start([] { return 0; });
  kill(child, SIGKILL);
  TraceStop stop = next();
  EXPECT_EQ(stop.kind, Kind::kEnded);
  EXPECT_EQ(stop.status, SIGKILL);
  EXPECT_EQ(session_.status(child), SIGKILL);
}

TEST_F(TracerTest, TellsThatItExecutesAProgram) {
  pid_t child = start([] {
    std::thread([] {
      pass(1);
      execl("/bin/sh", "sh", "-c", "exit 4", static_cast<char*>(nullptr));
      _exit(1);
    }).join();
    return 1;
  });
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  EXPECT_EQ(go_on(child).kind, Kind::kBreak);
  TraceStop stop = go_on(child);
  EXPECT_EQ(stop.kind, Kind::kExecuted);
  EXPECT_EQ(stop.process, child);
  EXPECT_EQ(tracer_.threads(child), std::vector<pid_t>{child});
  uint64_t entry = 0;
  EXPECT_TRUE(tracer_.read(child, registers(child).rip, &entry, sizeof entry));
  ASSERT_TRUE(tracer_.add_break(child, registers(child).rip));
  expect_end(child, 4);
}

TEST_F(TracerTest, LetsGoOfOneThatRuns) {
  pid_t child = start([&] {
    std::atomic<uint64_t> sum = 0;
    while (gate_->word == 0) pass_in_threads(3, 3, sum);
    return 0;
  });
  ASSERT_TRUE(tracer_.add_break(child, address_of(&tracer_subject_second)));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(tracer_.add_watch(child, address_of(&watched[i]), 8));
  int hits = 0;
  tracer_.filter = [&](const TraceStop&) {
    ++hits;
    return false;
  };
  tracer_.go_on(child);
  while (hits < 100) session_.reap(1ms);
  tracer_.let_go(child);
  EXPECT_FALSE(tracer_.traces(child));
  gate_->word = 1;
  EXPECT_EQ(collect(child), 0);
}

TEST_F(TracerTest, AttachesToManyThreadsAgainAndAgain) {
  pid_t child = start(
      [&] {
        std::atomic<uint64_t> sum = 0;
        while (gate_->word == 0) pass_in_threads(3, 3, sum);
        return 0;
      },
      false);
  gate_->open = 1;
  for (int i = 0; i < 30; ++i) {
    Status attached = tracer_.attach(child);
    ASSERT_TRUE(attached) << attached.error().message;
    EXPECT_FALSE(tracer_.attach(child));
    ASSERT_TRUE(tracer_.add_break(child, address_of(&tracer_subject_second)));
    ASSERT_EQ(go_on(child).kind, Kind::kBreak);
    tracer_.let_go(child);
  }
  gate_->word = 1;
  EXPECT_EQ(collect(child), 0);
  EXPECT_FALSE(tracer_.attach(child));
}

TEST_F(TracerTest, LetsAllGoAtItsEnd) {
  pid_t child = start([] { return pass_times(10); }, false);
  {
    Tracer other;
    ASSERT_TRUE(other.attach(child));
    ASSERT_TRUE(other.add_break(child, address_of(pass)));
    gate_->open = 1;
  }
  EXPECT_EQ(collect(child), 0);
}

}  // namespace
}  // namespace pastcone::replay

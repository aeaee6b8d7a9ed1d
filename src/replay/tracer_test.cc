#include "pastcone/replay/tracer.h"

#include <gtest/gtest.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <set>
#include <thread>

#include "pastcone/replay/session.h"

// The subjects are children of the test itself: same code, same addresses.
extern "C" {
void tracer_subject_steps();
extern const uint8_t tracer_subject_second, tracer_subject_flags, tracer_subject_end, tracer_subject_repeat;
uint64_t tracer_subject_flags_seen();
}

// clang-format off
asm(R"(
  .text
  .globl tracer_subject_steps, tracer_subject_second, tracer_subject_end
  .type tracer_subject_steps, @function
tracer_subject_steps:
  nop
tracer_subject_second:
  imul %rdi, %rdi
  mov $7, %eax
tracer_subject_end:
  ret

  .globl tracer_subject_flags_seen, tracer_subject_flags
  .type tracer_subject_flags_seen, @function
tracer_subject_flags_seen:
  nop
tracer_subject_flags:
  pushfq
  pop %rax
  push %rax
  popfq
  nop
  ret

  .globl tracer_subject_copy, tracer_subject_repeat
  .type tracer_subject_copy, @function
tracer_subject_copy:
  mov %rdx, %rcx
tracer_subject_repeat:
  rep movsb
  ret
)");
// clang-format on

extern "C" void tracer_subject_copy(void* to, const void* from, uint64_t size);

namespace pastcone::replay {
namespace {

using namespace std::chrono_literals;
using Kind = TraceStop::Kind;

volatile uint64_t watched[8];
volatile uint64_t counter;

[[gnu::noinline]] void pass(uint64_t number) {
  counter = counter + number;
  asm volatile("");
}

uint64_t address_of(const volatile void* place) { return reinterpret_cast<uint64_t>(place); }
uint64_t address_of(void (*function)(uint64_t)) { return reinterpret_cast<uint64_t>(function); }

/// Shared with the subject.
template <typename T>
T* share() {
  void* memory = mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return new (memory) T();
}

struct Gate {
  std::atomic<int> begun = 0, open = 0;
  std::atomic<uint64_t> word = 0;
  int result = 0;
  void await() {
    begun = 1;
    while (open == 0) usleep(100);
  }
};

class TracerTest : public testing::Test {
 protected:
  TracerTest() { tracer_.connect(session_); }
  ~TracerTest() override {
    for (pid_t child : children_) kill(child, SIGKILL);
    while (!session_.reap(1ms)) {
    }
    munmap(gate_, sizeof *gate_);
  }

  /// A child that does `what` once the gate is open, and exits with its result. It is attached and stands.
  template <typename What>
  pid_t start(What what, bool attached = true) {
    pid_t child = fork();
    if (child == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      gate_->await();
      _exit(what());
    }
    children_.push_back(child);
    while (gate_->begun == 0) usleep(100);
    if (!attached) return child;
    Status done = tracer_.attach(child);
    EXPECT_TRUE(done) << done.error().message;
    EXPECT_TRUE(tracer_.stands(child));
    gate_->open = 1;
    return child;
  }

  TraceStop next() {
    auto end = std::chrono::steady_clock::now() + 60s;
    while (std::chrono::steady_clock::now() < end) {
      if (auto stop = tracer_.next_stop()) return *stop;
      session_.reap(5ms);
    }
    ADD_FAILURE() << "nothing came";
    return {Kind::kAsked, 0, 0, 0, 0};
  }

  TraceStop go_on(pid_t process) {
    tracer_.go_on(process);
    return next();
  }

  void expect_end(pid_t process, int exit_status = 0) {
    TraceStop stop = go_on(process);
    EXPECT_EQ(stop.kind, Kind::kEnded);
    EXPECT_EQ(stop.process, process);
    EXPECT_EQ(stop.status, exit_status << 8);
    EXPECT_EQ(session_.status(process), exit_status << 8);
    EXPECT_FALSE(tracer_.traces(process));
  }

  /// One that is not traced (any longer).
  int collect(pid_t process) {
    auto end = std::chrono::steady_clock::now() + 60s;
    while (!session_.status(process) && std::chrono::steady_clock::now() < end) session_.reap(5ms);
    return session_.status(process).value_or(-1);
  }

  user_regs_struct registers(pid_t thread) {
    auto got = tracer_.registers(thread);
    EXPECT_TRUE(got) << got.error().message;
    return got.value_or(user_regs_struct{});
  }

  Gate* gate_ = share<Gate>();
  std::vector<pid_t> children_;
  Session session_{-1};
  Tracer tracer_;
};

int pass_times(uint64_t times) {
  counter = 0;
  for (uint64_t i = 1; i <= times; ++i) pass(i);
  return counter == times * (times + 1) / 2 ? 0 : 1;
}

TEST_F(TracerTest, StopsAtABreakpointEachTime) {
  pid_t child = start([] { return pass_times(5); });
  uint8_t before[16], now[16];
  ASSERT_TRUE(tracer_.read(child, address_of(pass), before, sizeof before));
  EXPECT_EQ(std::memcmp(before, reinterpret_cast<void*>(pass), sizeof before), 0);
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  EXPECT_FALSE(tracer_.add_break(child, 8));
  for (uint64_t i = 1; i <= 5; ++i) {
    TraceStop stop = go_on(child);
    ASSERT_EQ(stop.kind, Kind::kBreak);
    EXPECT_EQ(stop.address, address_of(pass));
    EXPECT_EQ(stop.thread, child);
    EXPECT_EQ(registers(child).rip, address_of(pass));
    EXPECT_EQ(registers(child).rdi, i);
    ASSERT_TRUE(tracer_.read(child, address_of(pass), now, sizeof now));
    EXPECT_EQ(std::memcmp(before, now, sizeof now), 0);
    uint64_t count = 0;
    ASSERT_TRUE(tracer_.read(child, address_of(&counter), &count, sizeof count));
    EXPECT_EQ(count, i * (i - 1) / 2);
  }
  expect_end(child);
}

TEST_F(TracerTest, CountsItsPoints) {
  pid_t child = start([] { return pass_times(3); });
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  tracer_.remove_break(child, address_of(pass));
  EXPECT_EQ(go_on(child).kind, Kind::kBreak);
  tracer_.remove_break(child, address_of(pass));
  tracer_.remove_break(child, address_of(pass));
  expect_end(child);
}

TEST_F(TracerTest, WritesMemoryAndRegisters) {
  pid_t child = start([] {
    pass(1);
    return static_cast<int>(counter);
  });
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  ASSERT_EQ(go_on(child).kind, Kind::kBreak);
  uint64_t forty = 40;
  ASSERT_TRUE(tracer_.write(child, address_of(&counter), &forty, sizeof forty));
  // Over a breakpoint too.
  uint8_t code[4];
  ASSERT_TRUE(tracer_.read(child, address_of(pass), code, sizeof code));
  ASSERT_TRUE(tracer_.write(child, address_of(pass), code, sizeof code));
  auto now = registers(child);
  now.rdi = 2;
  ASSERT_TRUE(tracer_.set_registers(child, now));
  auto floats = tracer_.float_registers(child);
  ASSERT_TRUE(floats);
  EXPECT_TRUE(tracer_.set_float_registers(child, *floats));
  expect_end(child, 42);
}

TEST_F(TracerTest, ReportsEveryWrite) {
  pid_t child = start([] {
    for (uint64_t i = 0; i < 4; ++i) watched[1] = i / 2;
    uint64_t read = watched[1];
    return static_cast<int>(read);
  });
  ASSERT_TRUE(tracer_.add_watch(child, address_of(&watched[1]), 8));
  for (uint64_t i = 0; i < 4; ++i) {
    TraceStop stop = go_on(child);
    ASSERT_EQ(stop.kind, Kind::kWatch);
    EXPECT_EQ(stop.address, address_of(&watched[1]));
    uint64_t value = 0;
    ASSERT_TRUE(tracer_.read(child, stop.address, &value, sizeof value));
    EXPECT_EQ(value, i / 2);
  }
  tracer_.remove_watch(child, address_of(&watched[1]), 8);
  ASSERT_TRUE(tracer_.add_watch(child, address_of(&watched[1]), 8, true));
  EXPECT_EQ(go_on(child).kind, Kind::kWatch);
  expect_end(child, 1);
}

TEST_F(TracerTest, DoesNotSeeWhatTheKernelWrites) {
  pid_t child = start([] {
    int ends[2];
    uint64_t value = 5;
    if (pipe(ends) != 0 || write(ends[1], &value, 8) != 8) return 1;
    auto* to = const_cast<uint64_t*>(&watched[2]);
    if (read(ends[0], to, 8) != 8) return 1;
    watched[2] = watched[2] + 1;
    return static_cast<int>(watched[2]);
  });
  ASSERT_TRUE(tracer_.add_watch(child, address_of(&watched[2]), 8));
  ASSERT_EQ(go_on(child).kind, Kind::kWatch);
  uint64_t value = 0;
  ASSERT_TRUE(tracer_.read(child, address_of(&watched[2]), &value, sizeof value));
  EXPECT_EQ(value, 6u);
  expect_end(child, 6);
}

TEST_F(TracerTest, SaysThatThereIsNoRoomForAWatchpoint) {
  pid_t child = start([] { return 0; });
  ASSERT_TRUE(tracer_.add_watch(child, address_of(watched), 24));
  ASSERT_TRUE(tracer_.add_watch(child, address_of(watched), 24));
  Status more = tracer_.add_watch(child, address_of(&watched[4]) + 1, 4);  // three pieces
  ASSERT_FALSE(more);
  EXPECT_NE(more.error().message.find("1 of 4 are free"), std::string::npos) << more.error().message;
  EXPECT_FALSE(tracer_.add_watch(child, address_of(watched), 4096));
  EXPECT_FALSE(tracer_.add_watch(child, uint64_t{1} << 63, 8));
  EXPECT_TRUE(tracer_.add_watch(child, address_of(&watched[4]), 8));
  tracer_.remove_watch(child, address_of(watched), 24);
  EXPECT_FALSE(tracer_.add_watch(child, address_of(&watched[5]), 8));
  tracer_.remove_watch(child, address_of(watched), 24);
  EXPECT_TRUE(tracer_.add_watch(child, address_of(&watched[5]), 8));
  expect_end(child);
}

TEST_F(TracerTest, Steps) {
  pid_t child = start([] {
    tracer_subject_steps();
    return (tracer_subject_flags_seen() & 0x100) != 0 ? 1 : 0;
  });
  auto begin = reinterpret_cast<uint64_t>(&tracer_subject_steps);
  ASSERT_TRUE(tracer_.add_break(child, begin));
  ASSERT_TRUE(tracer_.add_break(child, address_of(&tracer_subject_second)));
  ASSERT_EQ(go_on(child).kind, Kind::kBreak);
  std::vector<uint64_t> places;
  for (int i = 0; i < 3; ++i) {
    tracer_.step(child);
    TraceStop stop = next();
    ASSERT_EQ(stop.kind, Kind::kStep);
    EXPECT_EQ(stop.thread, child);
    EXPECT_TRUE(tracer_.stands(child));
    places.push_back(registers(child).rip);
  }
  // Onto a breakpoint, off it, and on.
  EXPECT_EQ(places[0], address_of(&tracer_subject_second));
  EXPECT_EQ(places[1], address_of(&tracer_subject_second) + 4);
  EXPECT_EQ(places[2], address_of(&tracer_subject_end));
  // An instruction that would show it.
  ASSERT_TRUE(tracer_.add_break(child, address_of(&tracer_subject_flags)));
  ASSERT_EQ(go_on(child).address, address_of(&tracer_subject_flags));
  tracer_.remove_break(child, address_of(&tracer_subject_flags));
  for (int i = 0; i < 6; ++i) {  // the last ones behind popfq
    tracer_.step(child);
    EXPECT_EQ(next().kind, Kind::kStep);
    EXPECT_EQ(registers(child).eflags & 0x100, 0u);
  }
  expect_end(child);
}

TEST_F(TracerTest, StepsOntoABreakpointAndGoesOnFromIt) {
  pid_t child = start([] {
    tracer_subject_steps();
    return 0;
  });
  ASSERT_TRUE(tracer_.add_break(child, reinterpret_cast<uint64_t>(&tracer_subject_steps)));
  ASSERT_TRUE(tracer_.add_break(child, address_of(&tracer_subject_second)));
  ASSERT_EQ(go_on(child).kind, Kind::kBreak);
  tracer_.step(child);
  ASSERT_EQ(next().kind, Kind::kStep);
  expect_end(child);
}

TEST_F(TracerTest, PassesARepeatedInstructionOnce) {
  pid_t child = start([] {
    char from[100], to[100] = {};
    std::memset(from, 'x', sizeof from);
    tracer_subject_copy(to, from, sizeof from);
    return std::memcmp(from, to, sizeof from) == 0 ? 0 : 1;
  });
  ASSERT_TRUE(tracer_.add_break(child, address_of(&tracer_subject_repeat)));
  ASSERT_EQ(go_on(child).kind, Kind::kBreak);
  expect_end(child);
}

TEST_F(TracerTest, FiltersManyHits) {
  constexpr uint64_t kTimes = 5000;
  pid_t child = start([] { return pass_times(kTimes); });
  uint64_t hits = 0, writes = 0, next_expected = 1;
  tracer_.filter = [&](const TraceStop& hit) {
    if (hit.kind == Kind::kWatch) return ++writes == kTimes - 8;
    ++hits;
    EXPECT_EQ(registers(hit.thread).rdi, next_expected++);
    return hits == kTimes - 10;
  };
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  ASSERT_TRUE(tracer_.add_watch(child, address_of(&counter), 8));
  EXPECT_EQ(go_on(child).kind, Kind::kBreak);
  EXPECT_EQ(writes, kTimes - 10);  // with counter = 0 at the beginning
  EXPECT_EQ(go_on(child).kind, Kind::kWatch);
  expect_end(child);
  EXPECT_EQ(hits, kTimes);
  EXPECT_EQ(writes, kTimes + 1);
}

/// Each of several threads passes many times, all at once.
int pass_in_threads(int threads, int times, std::atomic<uint64_t>& sum) {
  std::vector<std::thread> all;
  for (int i = 0; i < threads; ++i) {
    all.emplace_back([&, i] {
      for (int j = 0; j < times; ++j) {
        tracer_subject_steps();
        watched[i] = watched[i] + 1;
        ++sum;
      }
    });
  }
  for (std::thread& thread : all) thread.join();
  return sum == static_cast<uint64_t>(threads) * static_cast<uint64_t>(times) ? 0 : 1;
}

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

TEST_F(TracerTest, PassesOnWhatIsNotItsOwn) {
  pid_t child = start([] {
    static volatile int traps, faults, others;
    struct sigaction action {};
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = [](int signal, siginfo_t* info, void* context) {
      auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
      if (signal == SIGTRAP)
        traps = traps + (info->si_code == SI_KERNEL || info->si_code == SI_TKILL ? 1 : 100);
      if (signal == SIGSEGV) {
        faults =
            faults + (info->si_code == SEGV_MAPERR && info->si_addr == reinterpret_cast<void*>(16) ? 1 : 100);
        registers[REG_RIP] += 7;
      }
      if (signal == SIGUSR1) others = others + 1;
    };
    for (int signal : {SIGTRAP, SIGSEGV, SIGUSR1}) sigaction(signal, &action, nullptr);
    for (int i = 0; i < 10; ++i) {
      pass(0);
      asm volatile("int3");
      raise(SIGTRAP);
      raise(SIGUSR1);
      asm volatile("xor %%eax, %%eax; movl $1, 16(%%rax)" ::: "rax", "memory");
      pass(1);
    }
    return traps == 20 && faults == 10 && others == 10 && counter == 10 ? 0 : 1;
  });
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  int hits = 0;
  tracer_.filter = [&](const TraceStop&) { return ++hits % 2 == 0; };
  for (int i = 0; i < 10; ++i) ASSERT_EQ(go_on(child).kind, Kind::kBreak);
  expect_end(child);
  EXPECT_EQ(hits, 20);
}

/// As the runtime does at the points where a thread was interrupted: an int3 of its own, and a step by itself
/// over what stood there. 11 passes, of which the last 7 come after pass(2).
int pass_with_own_breakpoint() {
  static uint8_t original;
  static volatile int own;
  auto* place = const_cast<uint8_t*>(&tracer_subject_second);
  auto* page = reinterpret_cast<uint8_t*>(address_of(place) & ~uint64_t{4095});
  mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t*, void* context) {
    auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
    auto* here = const_cast<volatile uint8_t*>(&tracer_subject_second);
    if ((registers[REG_EFL] & 0x100) != 0) {
      registers[REG_EFL] &= ~0x100;
      if (own < 10) *here = 0xcc;
      return;
    }
    own = own + 1;
    registers[REG_RIP] -= 1;
    *here = original;
    registers[REG_EFL] |= 0x100;
  };
  sigaction(SIGTRAP, &action, nullptr);
  pass(1);
  original = *place;
  *const_cast<volatile uint8_t*>(place) = 0xcc;
  for (int i = 0; i < 4; ++i) tracer_subject_steps();
  pass(2);
  for (int i = 0; i < 7; ++i) tracer_subject_steps();
  return own;
}

TEST_F(TracerTest, SharesAPlaceWithABreakpointOfTheProcess) {
  pid_t child = start(pass_with_own_breakpoint);
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  ASSERT_TRUE(tracer_.add_break(child, address_of(&tracer_subject_second)));
  ASSERT_EQ(go_on(child).address, address_of(pass));
  tracer_.remove_break(child, address_of(pass));
  int hits = 0;
  tracer_.filter = [&](const TraceStop&) { return ++hits == 5; };
  EXPECT_EQ(go_on(child).kind, Kind::kBreak);
  expect_end(child, 10);
  EXPECT_EQ(hits, 11);
}

TEST_F(TracerTest, ComesToThePlaceOfABreakpointOfTheProcess) {
  pid_t child = start(pass_with_own_breakpoint);
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  ASSERT_EQ(go_on(child).address, address_of(pass));
  ASSERT_EQ(go_on(child).address, address_of(pass));
  int hits = 0;
  tracer_.filter = [&](const TraceStop&) { return ++hits == 3; };
  ASSERT_TRUE(tracer_.add_break(child, address_of(&tracer_subject_second)));
  EXPECT_EQ(go_on(child).kind, Kind::kBreak);
  expect_end(child, 10);
  EXPECT_EQ(hits, 7);
}

TEST_F(TracerTest, LeavesABreakpointOfTheProcessWhereItWas) {
  pid_t child = start(pass_with_own_breakpoint);
  ASSERT_TRUE(tracer_.add_break(child, address_of(pass)));
  ASSERT_TRUE(tracer_.add_break(child, address_of(&tracer_subject_second)));
  tracer_.filter = [&](const TraceStop& hit) { return hit.address == address_of(pass); };
  ASSERT_EQ(go_on(child).address, address_of(pass));
  ASSERT_EQ(go_on(child).address, address_of(pass));
  tracer_.remove_break(child,
                       address_of(&tracer_subject_second));  // the process believes that it was there before
  expect_end(child, 10);
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

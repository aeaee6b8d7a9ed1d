// What the tests of the tracer share: children of the test itself, with the same code at the same addresses.
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>
#include <vector>

#include "pastcone/replay/session.h"
#include "pastcone/replay/tracer.h"

// tracer_test.cc
extern "C" {
void tracer_subject_steps();
extern const uint8_t tracer_subject_second, tracer_subject_flags, tracer_subject_end, tracer_subject_repeat;
uint64_t tracer_subject_flags_seen();
}
extern "C" void tracer_subject_copy(void* to, const void* from, uint64_t size);

namespace pastcone::replay {

using namespace std::chrono_literals;
using Kind = TraceStop::Kind;

inline volatile uint64_t watched[8];
inline volatile uint64_t counter;

[[gnu::noinline]] inline void pass(uint64_t number) {
  counter = counter + number;
  asm volatile("");
}

inline uint64_t address_of(const volatile void* place) { return reinterpret_cast<uint64_t>(place); }
inline uint64_t address_of(void (*function)(uint64_t)) { return reinterpret_cast<uint64_t>(function); }

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

inline int pass_times(uint64_t times) {
  counter = 0;
  for (uint64_t i = 1; i <= times; ++i) pass(i);
  return counter == times * (times + 1) / 2 ? 0 : 1;
}

/// Each of several threads passes many times, all at once.
inline int pass_in_threads(int threads, int times, std::atomic<uint64_t>& sum) {
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

}  // namespace pastcone::replay

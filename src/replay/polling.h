// Threads that wait by themselves, in a loop, with sched_yield or without, which leaves no event in parallel mode.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <map>
#include <vector>

namespace pastcone::replay {

class Polling {
 public:
  explicit Polling(std::chrono::milliseconds patience) : patience_(patience) {}

  /// Something was done: what happened before does not count.
  void forget() { before_.clear(); }

  /// Whether all of these threads, the only ones that run, do nothing but ask: they were in the kernel for so
  /// long, and longer than in the program, without an event. Then what they ask for is not going to change.
  bool only(const std::vector<pid_t>& running);

  /// For how long one of these has had a processor since then, at most: the others that run have had theirs, too.
  std::chrono::milliseconds longest(const std::vector<pid_t>& running);

 private:
  struct Times {
    std::chrono::milliseconds user{}, system{};
  };
  /// Since the thread was first seen after forget().
  Times spent(pid_t thread);
  static Times times_of(pid_t thread);

  std::chrono::milliseconds patience_;
  std::map<pid_t, Times> before_;
};

}  // namespace pastcone::replay

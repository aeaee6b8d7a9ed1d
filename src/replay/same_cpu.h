// Threads that stop for us many thousand times a second are quicker by far if they run on our own CPU: nobody
// has to be woken on another one. All are free again as soon as it is quiet.
#pragma once

#include <sched.h>
#include <sys/types.h>

#include <chrono>
#include <map>

namespace pastcone::replay {

class SameCpu {
 public:
  ~SameCpu() { release(); }
  /// It has stopped, and goes on at once, or soon.
  void note_hit(pid_t thread);
  /// It has created another, which inherits where it may run.
  void note_child(pid_t thread, pid_t child) const;
  void release();
  void release_if_quiet();

 private:
  using Clock = std::chrono::steady_clock;
  struct Thread {
    int hits = 0;
    Clock::time_point looked_at{};
    bool bound = false;
    cpu_set_t before{};
  };
  void bind(pid_t id, Thread& thread);

  std::map<pid_t, Thread> threads_;
  Clock::time_point hit_at_{};
  int cpu_ = -1;  ///< ours, if any is bound
  cpu_set_t ours_{};
};

}  // namespace pastcone::replay

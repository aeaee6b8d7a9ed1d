// Interrupts what this thread waits for (EINTR) when the time is over, again and again until the alarm ends.
// SIGCHLD does not meanwhile.
#pragma once

#include <chrono>
#include <csignal>
#include <ctime>

namespace pastcone::replay {

class Alarm {
 public:
  explicit Alarm(std::chrono::nanoseconds after);
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  ~Alarm();

 private:
  sigset_t before_;
};

}  // namespace pastcone::replay

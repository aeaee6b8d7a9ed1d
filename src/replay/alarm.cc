#include "pastcone/replay/alarm.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>

#include "pastcone/base/check.h"

namespace pastcone::replay {
namespace {

/// One that nobody else uses.
int alarm_signal() { return SIGRTMAX - 3; }

/// Each thread has its timer; it is made once.
class Timer {
 public:
  Timer() {
    static std::once_flag once;
    std::call_once(once, [] {
      struct sigaction action {};
      action.sa_handler = [](int) {};
      sigaction(alarm_signal(), &action, nullptr);
    });
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = alarm_signal();
    event._sigev_un._tid = static_cast<pid_t>(syscall(SYS_gettid));
    CHECK(timer_create(CLOCK_MONOTONIC, &event, &id_) == 0);
  }
  ~Timer() { timer_delete(id_); }

  void set(std::chrono::nanoseconds after) const {
    auto seconds = std::chrono::duration_cast<std::chrono::seconds>(after);
    timespec time{seconds.count(), (after - seconds).count()};
    itimerspec when{time, time};
    timer_settime(id_, 0, &when, nullptr);
  }

 private:
  timer_t id_{};
};

const Timer& timer() {
  thread_local Timer own;
  return own;
}

}  // namespace

Alarm::Alarm(std::chrono::nanoseconds after) {
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &before_);
  mask = before_;
  sigaddset(&mask, SIGCHLD);
  sigdelset(&mask, alarm_signal());
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  timer().set(std::max<std::chrono::nanoseconds>(after, std::chrono::microseconds(50)));
}

Alarm::~Alarm() {
  timer().set({});
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace pastcone::replay

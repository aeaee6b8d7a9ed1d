// timerfd: a periodic timer read by hand and through poll, an absolute one, and one switched off.
// e2e: varies
#include <poll.h>
#include <sys/timerfd.h>

#include "common.h"

int main(void) {
  int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  struct itimerspec every = {{0, 3000000}, {0, 1000000}}, left;
  CHECK(fd >= 0 && timerfd_settime(fd, 0, &every, NULL) == 0);
  uint64_t ticks, sum = 0;
  while (sum < 5) {
    CHECK(read(fd, &ticks, sizeof ticks) == sizeof ticks);
    say("%lu ", (unsigned long)ticks);
    sum += ticks;
  }
  struct pollfd p = {fd, POLLIN, 0};
  CHECK(poll(&p, 1, -1) == 1 && timerfd_gettime(fd, &left) == 0);
  say("poll; left %ld ns of %ld\n", left.it_value.tv_nsec, left.it_interval.tv_nsec);

  int absolute = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK);
  CHECK(read(absolute, &ticks, sizeof ticks) < 0);
  say("not set: %s\n", strerror(errno));
  struct itimerspec at = {{0, 0}, {0, 0}};
  clock_gettime(CLOCK_REALTIME, &at.it_value);
  CHECK(timerfd_settime(absolute, TFD_TIMER_ABSTIME, &at, NULL) == 0);
  p.fd = absolute;
  CHECK(poll(&p, 1, 5000) == 1 && read(absolute, &ticks, sizeof ticks) == sizeof ticks);
  say("absolute: %lu\n", (unsigned long)ticks);
  struct itimerspec off = {{0, 0}, {0, 0}};
  CHECK(timerfd_settime(fd, 0, &off, &left) == 0);
  p.fd = fd;
  say("off: %d\n", poll(&p, 1, 6));
  return 0;
}

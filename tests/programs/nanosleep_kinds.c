// Sleeping: relative, absolute, interrupted with what remains, usleep; each takes at least its time.
// e2e: varies
#include <sys/time.h>

#include "common.h"

static void nothing(int sig) { (void)sig; }

static long since(struct timespec from) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - from.tv_sec) * 1000000000l + now.tv_nsec - from.tv_nsec;
}

int main(void) {
  struct timespec start, wait = {0, 4000000}, rest = {0, 0};
  clock_gettime(CLOCK_MONOTONIC, &start);
  CHECK(nanosleep(&wait, NULL) == 0);
  long took = since(start);
  CHECK(took >= 4000000);
  say("relative: %ld ns\n", took);
  struct timespec until = start;
  until.tv_nsec += 9000000;
  if (until.tv_nsec >= 1000000000) {
    until.tv_nsec -= 1000000000;
    until.tv_sec++;
  }
  CHECK(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == 0);
  took = since(start);
  CHECK(took >= 9000000);
  say("absolute: %ld ns\n", took);
  CHECK(usleep(2000) == 0);
  on_signal_flags(SIGALRM, nothing, SA_RESTART);
  struct itimerval soon = {{0, 0}, {0, 5000}};
  CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
  wait = (struct timespec){3600, 0};
  CHECK(nanosleep(&wait, &rest) < 0);
  say("interrupted: %s, %ld.%09ld left\n", strerror(errno), (long)rest.tv_sec, rest.tv_nsec);
  say("invalid: %s\n", nanosleep(&(struct timespec){0, -1}, NULL) < 0 ? strerror(errno) : "slept");
  return 0;
}

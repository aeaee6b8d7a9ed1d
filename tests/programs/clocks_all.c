// Every clock: clock_gettime and clock_getres of each, gettimeofday, time, clock, none running backwards.
// e2e: varies
#include <sys/time.h>

#include "common.h"

int main(void) {
  const clockid_t ids[] = {CLOCK_REALTIME,          CLOCK_MONOTONIC,     CLOCK_PROCESS_CPUTIME_ID,
                           CLOCK_THREAD_CPUTIME_ID, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE,
                           CLOCK_MONOTONIC_COARSE,  CLOCK_BOOTTIME,      CLOCK_TAI};
  for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
    struct timespec a, b, res;
    CHECK(clock_gettime(ids[i], &a) == 0 && clock_gettime(ids[i], &b) == 0 &&
          clock_getres(ids[i], &res) == 0);
    CHECK(b.tv_sec > a.tv_sec || (b.tv_sec == a.tv_sec && b.tv_nsec >= a.tv_nsec));
    say("clock %d: %ld.%09ld then %ld.%09ld, resolution %ld\n", ids[i], (long)a.tv_sec, a.tv_nsec,
        (long)b.tv_sec, b.tv_nsec, res.tv_nsec);
  }
  struct timeval tv;
  time_t stored, now = time(&stored);
  CHECK(gettimeofday(&tv, NULL) == 0 && now == stored && tv.tv_sec >= now);
  say("gettimeofday %ld.%06ld, time %ld, clock %ld\n", (long)tv.tv_sec, (long)tv.tv_usec, (long)now,
      (long)clock());
  struct timespec t;
  say("unknown clock: %s\n", clock_gettime(99, &t) < 0 ? strerror(errno) : "there");
  return 0;
}

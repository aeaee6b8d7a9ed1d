// Clocks that a machine may not have, or the kernel does not know, and addresses that are not there.
// e2e: varies
#include <sys/syscall.h>

#include "common.h"

static const char* reading(long clock, void* to) {
  return syscall(SYS_clock_gettime, clock, to) == 0 ? "read" : strerror(errno);
}

int main(void) {
  struct timespec now;
  for (long clock = 8; clock < 13; clock++) {
    say("clock %ld: %s\n", clock, reading(clock, &now));
    CHECK(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    say("at %ld.%09ld\n", (long)now.tv_sec, now.tv_nsec);
  }
  say("nowhere: %s, %s\n", reading(CLOCK_REALTIME, (void*)8), reading(CLOCK_TAI, (void*)8));
  return 0;
}

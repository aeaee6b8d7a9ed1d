// A signal in a loop that makes no call but reads the time stamp counter: it is taken at one of the readings.
// e2e: varies
#include <sys/time.h>
#include <x86intrin.h>

#include "common.h"

static volatile sig_atomic_t rung;
static void ring(int sig) { rung = sig; }

int main(void) {
  on_signal_flags(SIGALRM, ring, 0);
  struct itimerval soon = {{0, 0}, {0, 20000}};
  CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
  unsigned long long sum = 0, readings = 0;
  while (!rung) {
    sum += __rdtsc() & 1;
    readings++;
  }
  say("signal %d after some readings: %s, parity sum %llu\n", rung, readings > 10 ? "many" : "few", sum);
  return 0;
}

// A timer's signal into a loop that makes no call: the program must see it and end.
// e2e: stable
#include <sys/time.h>

#include "common.h"

static volatile sig_atomic_t rang;
static void ring(int sig) { rang = sig; }

int main(void) {
  on_signal_flags(SIGALRM, ring, 0);
  struct itimerval soon = {{0, 0}, {0, 20000}};
  CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
  volatile unsigned long spin = 0;
  while (!rang) spin++;
  say("the loop ended\n");
  return 0;
}

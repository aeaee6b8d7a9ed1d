// A signal into a loop without calls that shows how far it had come: exact at the instruction.
// e2e: varies async
#include <sys/time.h>

#include "common.h"

static volatile sig_atomic_t rang;
static volatile unsigned long spin;
static unsigned long at;
static void ring(int sig) {
  at = spin;
  rang = sig;
}

int main(void) {
  on_signal_flags(SIGALRM, ring, 0);
  struct itimerval soon = {{0, 0}, {0, 20000}};
  CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
  while (!rang) spin++;
  say("signal at %lu, ended at %lu\n", at, spin);
  return 0;
}

// setitimer: five ticks of a real interval timer, taken in sigsuspend.
// e2e: varies
#include <sys/time.h>

#include "common.h"

static volatile sig_atomic_t ticks;
static void tick(int sig) {
  (void)sig;
  ticks++;
}

int main(void) {
  on_signal_flags(SIGALRM, tick, 0);
  sigset_t block, before;
  sigemptyset(&block);
  sigaddset(&block, SIGALRM);
  CHECK(sigprocmask(SIG_BLOCK, &block, &before) == 0);
  struct itimerval every = {{0, 4000}, {0, 1000}}, left, off = {{0, 0}, {0, 0}};
  CHECK(setitimer(ITIMER_REAL, &every, NULL) == 0);
  while (ticks < 5) sigsuspend(&before);
  CHECK(getitimer(ITIMER_REAL, &left) == 0);
  say("%d ticks, next in %ld us of %ld\n", (int)ticks, (long)left.it_value.tv_usec,
      (long)left.it_interval.tv_usec);
  CHECK(setitimer(ITIMER_REAL, &off, &left) == 0 && getitimer(ITIMER_REAL, &left) == 0);
  say("off: %ld\n", (long)left.it_value.tv_usec);
  return 0;
}

// siglongjmp out of a handler, from a blocking read and from a loop without calls, with the mask restored.
// e2e: stable
#include <setjmp.h>
#include <sys/time.h>

#include "common.h"

static sigjmp_buf target;
static void jump(int sig) { siglongjmp(target, sig); }

int main(void) {
  on_signal_flags(SIGALRM, jump, 0);
  struct itimerval soon = {{0, 0}, {0, 10000}};
  int ends[2];
  CHECK(pipe(ends) == 0);
  for (volatile int round = 0; round < 4; round++) {
    if (sigsetjmp(target, 1) == 0) {
      CHECK(setitimer(ITIMER_REAL, &soon, NULL) == 0);
      char byte;
      if (round % 2 == 0) {
        CHECK(read(ends[0], &byte, 1) == 1);
      } else {
        volatile unsigned long spin = 0;
        for (;;) spin++;
      }
    }
    sigset_t now;
    CHECK(sigprocmask(SIG_BLOCK, NULL, &now) == 0);
    say("round %d: jumped, blocked %d\n", round, sigismember(&now, SIGALRM));
  }
  return 0;
}

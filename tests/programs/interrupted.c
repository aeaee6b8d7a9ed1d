// Waits for SIGINT as often as its argument says, then ends with status 42; 0 ignores them all.
// e2e: helper
#include "common.h"

static volatile sig_atomic_t taken;
static void take(int sig) {
  (void)sig;
  taken++;
}

int main(int argc, char** argv) {
  int wanted = argc > 1 ? atoi(argv[1]) : 1;
  if (wanted == 0) {
    signal(SIGINT, SIG_IGN);
    say("ready\n");
    for (int i = 0; i < 600; i++) sleep_ms(100);
    return 43;
  }
  on_signal_flags(SIGINT, take, 0);
  sigset_t block, before;
  sigemptyset(&block);
  sigaddset(&block, SIGINT);
  CHECK(sigprocmask(SIG_BLOCK, &block, &before) == 0);
  say("ready\n");
  while (taken < wanted) {
    sigsuspend(&before);
    say("interrupted %d\n", (int)taken);
  }
  return 42;
}

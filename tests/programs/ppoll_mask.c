// ppoll: waits with a timeout to the nanosecond and lets a blocked signal through.
// e2e: stable
#include <poll.h>

#include "common.h"

static volatile sig_atomic_t taken;
static void take(int sig) { taken = sig; }

int main(void) {
  on_signal_flags(SIGUSR2, take, SA_RESTART);
  sigset_t block, during;
  sigemptyset(&block);
  sigaddset(&block, SIGUSR2);
  CHECK(sigprocmask(SIG_BLOCK, &block, &during) == 0);
  pid_t parent = getpid(), pid = fork_checked();
  if (pid == 0) {
    sleep_ms(10);
    CHECK(kill(parent, SIGUSR2) == 0);
    _exit(0);
  }
  CHECK(ppoll(NULL, 0, NULL, &during) < 0);
  say("%s even with SA_RESTART, taken %d\n", strerror(errno), taken == SIGUSR2);
  struct timespec wait = {0, 3000001};
  say("timeout: %d\n", ppoll(NULL, 0, &wait, NULL));
  return exit_status(pid);
}

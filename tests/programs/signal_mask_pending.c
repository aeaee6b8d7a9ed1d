// Masks: blocked signals stay pending, merge if equal, and are taken in sigsuspend or when unblocked.
// e2e: stable
#include "common.h"

static volatile sig_atomic_t taken[65];
static void take(int sig) { taken[sig]++; }

int main(void) {
  on_signal_flags(SIGUSR1, take, 0);
  on_signal_flags(SIGUSR2, take, 0);
  sigset_t both, before, pending, only_second;
  sigemptyset(&both);
  sigaddset(&both, SIGUSR1);
  sigaddset(&both, SIGUSR2);
  CHECK(sigprocmask(SIG_BLOCK, &both, &before) == 0);
  pid_t parent = getpid(), pid = fork_checked();
  if (pid == 0) {
    for (int i = 0; i < 3; i++) kill(parent, SIGUSR1);
    kill(parent, SIGUSR2);
    _exit(0);
  }
  CHECK(exit_status(pid) == 0 && sigpending(&pending) == 0);
  say("pending %d %d, taken %d %d\n", sigismember(&pending, SIGUSR1), sigismember(&pending, SIGUSR2),
      (int)taken[SIGUSR1], (int)taken[SIGUSR2]);
  only_second = before;
  sigaddset(&only_second, SIGUSR1);
  sigdelset(&only_second, SIGUSR2);
  CHECK(sigsuspend(&only_second) < 0);
  say("suspended: %s, taken %d %d\n", strerror(errno), (int)taken[SIGUSR1], (int)taken[SIGUSR2]);
  CHECK(sigprocmask(SIG_SETMASK, &before, NULL) == 0);
  say("unblocked: taken %d %d\n", (int)taken[SIGUSR1], (int)taken[SIGUSR2]);
  CHECK(sigpending(&pending) == 0);
  say("pending %d\n", sigismember(&pending, SIGUSR1));
  return 0;
}

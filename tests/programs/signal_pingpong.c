// Two processes that wake each other by signals a hundred times; none may be lost.
// e2e: stable
#include "common.h"

static volatile sig_atomic_t taken;
static void take(int sig) {
  (void)sig;
  taken++;
}

int main(void) {
  on_signal_flags(SIGUSR1, take, 0);
  sigset_t block, before;
  sigemptyset(&block);
  sigaddset(&block, SIGUSR1);
  CHECK(sigprocmask(SIG_BLOCK, &block, &before) == 0);
  pid_t parent = getpid(), pid = fork_checked();
  pid_t other = pid == 0 ? parent : pid;
  for (int i = 0; i < 100; i++) {
    if (pid != 0 || i > 0) CHECK(kill(other, SIGUSR1) == 0);
    while (taken <= i) sigsuspend(&before);
  }
  if (pid == 0) {
    CHECK(kill(other, SIGUSR1) == 0);
    _exit(0);
  }
  say("%d taken\n", (int)taken);
  return exit_status(pid);
}

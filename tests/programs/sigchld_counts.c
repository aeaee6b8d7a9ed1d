// SIGCHLD: a handler that reaps all there is; twenty children, as many handler calls as happened.
// e2e: varies
#include "common.h"

static volatile sig_atomic_t calls, reaped, statuses;
static void reap(int sig) {
  (void)sig;
  int saved = errno, status;
  calls++;
  while (waitpid(-1, &status, WNOHANG) > 0) {
    reaped++;
    statuses += WEXITSTATUS(status);
  }
  errno = saved;
}

int main(void) {
  on_signal_flags(SIGCHLD, reap, SA_RESTART | SA_NOCLDSTOP);
  for (int i = 0; i < 20; i++) {
    if (fork_checked() == 0) {
      usleep((useconds_t)(i % 5 * 200));
      _exit(i);
    }
  }
  sigset_t block, before;
  sigemptyset(&block);
  sigaddset(&block, SIGCHLD);
  CHECK(sigprocmask(SIG_BLOCK, &block, &before) == 0);
  while (reaped < 20) sigsuspend(&before);
  CHECK(statuses == 190);
  say("%d reaped in %d calls, statuses %d\n", (int)reaped, (int)calls, (int)statuses);
  signal(SIGCHLD, SIG_IGN);
  sigprocmask(SIG_SETMASK, &before, NULL);
  if (fork_checked() == 0) _exit(1);
  CHECK(wait(NULL) < 0);
  say("ignored: %s\n", strerror(errno));
  return 0;
}

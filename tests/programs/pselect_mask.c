// pselect: a blocked signal that gets through only while waiting.
// e2e: stable
#include <sys/select.h>

#include "common.h"

static volatile sig_atomic_t taken;
static void take(int sig) { taken = sig; }

int main(void) {
  on_signal_flags(SIGUSR1, take, 0);
  sigset_t block, during;
  sigemptyset(&block);
  sigaddset(&block, SIGUSR1);
  CHECK(sigprocmask(SIG_BLOCK, &block, &during) == 0);
  int ends[2], end[2];
  CHECK(pipe(ends) == 0 && pipe(end) == 0);
  pid_t parent = getpid(), pid = fork_checked();
  if (pid == 0) {
    CHECK(kill(parent, SIGUSR1) == 0);
    char byte;
    close(end[1]);
    CHECK(read_all(end[0], &byte, 1) == 0);
    _exit(0);
  }
  fd_set readable;
  FD_ZERO(&readable);
  FD_SET(ends[0], &readable);
  say("before: taken %d\n", (int)taken);
  struct timespec limit = {10, 0};
  CHECK(pselect(ends[0] + 1, &readable, NULL, NULL, &limit, &during) < 0);
  say("during: %s, taken %d\n", strerror(errno), taken == SIGUSR1);
  write_all(ends[1], "x", 1);
  FD_SET(ends[0], &readable);
  say("readable: %d\n", pselect(ends[0] + 1, &readable, NULL, NULL, NULL, NULL));
  char byte;
  CHECK(read(ends[0], &byte, 1) == 1);
  close(end[1]);
  return exit_status(pid);
}

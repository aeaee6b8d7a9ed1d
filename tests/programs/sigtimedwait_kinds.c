// sigwait, sigwaitinfo and sigtimedwait: signals taken without a handler, and a timeout.
// e2e: stable
#include "common.h"

int main(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGTERM);
  CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
  int go[2];
  CHECK(pipe(go) == 0);
  pid_t parent = getpid(), pid = fork_checked();
  if (pid == 0) {
    char byte;
    kill(parent, SIGUSR1);
    CHECK(read(go[0], &byte, 1) == 1);
    sigqueue(parent, SIGTERM, (union sigval){.sival_int = 5});
    CHECK(read(go[0], &byte, 1) == 1);
    kill(parent, SIGUSR1);
    _exit(0);
  }
  int sig;
  CHECK(sigwait(&set, &sig) == 0);
  say("sigwait: %s\n", strsignal(sig));
  write_all(go[1], "g", 1);
  siginfo_t info;
  CHECK(sigwaitinfo(&set, &info) == SIGTERM);
  say("sigwaitinfo: value %d, queued %d, from the child %d\n", info.si_value.sival_int,
      info.si_code == SI_QUEUE, info.si_pid == pid);
  struct timespec limit = {0, 10000000}, long_limit = {10, 0};
  CHECK(sigtimedwait(&set, &info, &limit) < 0);
  say("sigtimedwait: %s\n", strerror(errno));
  write_all(go[1], "g", 1);
  CHECK(sigtimedwait(&set, &info, &long_limit) == SIGUSR1);
  say("sigtimedwait: %s\n", strsignal(info.si_signo));
  return exit_status(pid);
}

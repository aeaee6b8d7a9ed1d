// A process that stops itself in the middle of its work and is woken by its parent.
// e2e: stable
#include "common.h"

int main(void) {
  pid_t pid = fork_checked();
  if (pid == 0) {
    say("child: before\n");
    CHECK(raise(SIGSTOP) == 0);
    say("child: after\n");
    _exit(0);
  }
  siginfo_t info;
  CHECK(waitid(P_PID, pid, &info, WSTOPPED) == 0);
  say("parent: child stopped, %d\n", info.si_code == CLD_STOPPED);
  CHECK(kill(pid, SIGCONT) == 0);
  say("parent: status %d\n", exit_status(pid));
  return 0;
}

// waitid: a child by id, any child, a process group, looking without reaping, and the siginfo it fills.
// e2e: stable
#include "common.h"

static pid_t child(int code) {
  pid_t pid = fork_checked();
  if (pid == 0) _exit(code);
  return pid;
}

int main(void) {
  siginfo_t info;
  pid_t a = child(11);
  CHECK(waitid(P_PID, a, &info, WEXITED | WNOWAIT) == 0);
  say("looked at: own child %d, code %d, status %d\n", info.si_pid == a, info.si_code == CLD_EXITED,
      info.si_status);
  CHECK(waitid(P_PID, a, &info, WEXITED) == 0);
  say("reaped: status %d\n", info.si_status);
  CHECK(waitid(P_PID, a, &info, WEXITED) < 0);
  say("again: %s\n", strerror(errno));

  pid_t b = child(12);
  CHECK(waitid(P_ALL, 0, &info, WEXITED) == 0 && info.si_pid == b);
  say("any: status %d\n", info.si_status);

  int gate[2];
  CHECK(pipe(gate) == 0);
  pid_t c = fork_checked();
  if (c == 0) {
    char byte;
    CHECK(close(gate[1]) == 0 && read(gate[0], &byte, 1) == 0);
    pause();
  }
  CHECK(setpgid(c, c) == 0);
  memset(&info, 0, sizeof info);
  CHECK(waitid(P_PGID, c, &info, WEXITED | WNOHANG) == 0);
  say("group not ended yet: pid %d\n", info.si_pid);
  close(gate[1]);
  CHECK(kill(c, SIGKILL) == 0);
  CHECK(waitid(P_PGID, c, &info, WEXITED) == 0);
  say("group: killed %d by %d\n", info.si_code == CLD_KILLED, info.si_status);
  return 0;
}

// Sessions: setsid, the ids it gives, what it forbids, and that there is no terminal.
// e2e: stable
#include "common.h"

int main(void) {
  pid_t pid = fork_checked();
  if (pid == 0) {
    CHECK(setsid() == getpid());
    say("leader of session %d and group %d\n", getsid(0) == getpid(), getpgrp() == getpid());
    CHECK(setsid() < 0);
    say("twice: %s\n", strerror(errno));
    CHECK(setpgid(0, 0) < 0);
    say("leader moves: %s\n", strerror(errno));
    CHECK(open("/dev/tty", O_RDWR) < 0);
    say("terminal: %s\n", strerror(errno));
    _exit(0);
  }
  CHECK(exit_status(pid) == 0);
  say("parent in another session: %d\n", getsid(0) != pid);
  return 0;
}

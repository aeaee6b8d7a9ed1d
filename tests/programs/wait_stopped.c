// Job control: a child stopped and continued three times, seen through WUNTRACED and WCONTINUED.
// e2e: stable
#include "common.h"

int main(void) {
  int gate[2];
  CHECK(pipe(gate) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    close(gate[1]);
    char byte;
    CHECK(read_all(gate[0], &byte, 1) == 1);
    _exit(byte);
  }
  CHECK(setpgid(pid, pid) == 0);  // a terminal stop has no effect in an orphaned group
  int status;
  for (int i = 0; i < 3; i++) {
    CHECK(kill(pid, i == 1 ? SIGTSTP : SIGSTOP) == 0);
    CHECK(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status));
    say("stopped by %s\n", strsignal(WSTOPSIG(status)));
    CHECK(kill(pid, SIGCONT) == 0);
    CHECK(waitpid(pid, &status, WCONTINUED) == pid && WIFCONTINUED(status));
    say("continued\n");
  }
  write_all(gate[1], "*", 1);
  say("status %d\n", exit_status(pid));
  return 0;
}

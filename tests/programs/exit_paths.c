// Every way to end: exit with handlers, _exit, quick_exit, exit_group, a signal, and their statuses.
// e2e: stable
#include <sys/syscall.h>

#include "common.h"

static void first(void) { say("  at exit: first registered\n"); }
static void second(void) { say("  at exit: second registered\n"); }
static void quick(void) { say("  at quick exit\n"); }

int main(void) {
  atexit(first);
  atexit(second);
  at_quick_exit(quick);
  for (int way = 0; way < 5; way++) {
    say("way %d\n", way);
    pid_t pid = fork_checked();
    if (pid == 0) {
      switch (way) {
        case 0:
          exit(1);
        case 1:
          _exit(2);
        case 2:
          quick_exit(3);
        case 3:
          syscall(SYS_exit_group, 4);
          break;
        case 4:
          kill(getpid(), SIGKILL);
          break;
      }
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    say("  status %04x\n", status);
  }
  return 0;
}

// An orphan sees its parent's id change; the program's own status is the parent's.
// e2e: varies exit=7
#include <sched.h>

#include "common.h"

int main(void) {
  pid_t first = getpid();
  pid_t pid = fork_checked();
  if (pid == 0) {
    say("orphan %d: parent %d\n", getpid(), first);
    while (getppid() == first) sched_yield();
    say("orphan %d: parent %d\n", getpid(), getppid());
    _exit(0);
  }
  return 7;
}

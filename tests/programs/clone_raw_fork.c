// clone as a bare system call, used like fork, with the child's id stored in both memories.
// e2e: stable
#include <sched.h>
#include <sys/syscall.h>

#include "common.h"

int main(void) {
  pid_t in_parent = 0, in_child = 0;
  long pid =
      syscall(SYS_clone, CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | SIGCHLD, NULL, &in_parent, &in_child, 0L);
  CHECK(pid >= 0);
  if (pid == 0) {
    say("child: own id %s\n", in_child == (pid_t)syscall(SYS_getpid) ? "stored" : "not stored");
    _exit(6);
  }
  CHECK(in_parent == pid);
  say("parent: status %d, own copy untouched: %d\n", exit_status((pid_t)pid), in_child);
  return 0;
}

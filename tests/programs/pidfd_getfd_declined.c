// pidfd_getfd is declined, as by an older kernel, and the program falls back to what it has; the result is the same.
// e2e: stable
#include <sys/syscall.h>

#include "common.h"

// A descriptor of another process; where that cannot be had, the own one it was inherited from.
static int copy_of(int process, int fd) {
  long copy = syscall(SYS_pidfd_getfd, process, fd, 0);
  if (copy < 0) CHECK(errno == ENOSYS || errno == EPERM);
  return copy < 0 ? fd : (int)copy;
}

int main(void) {
  int ends[2];
  char text[8] = "";
  CHECK(pipe(ends) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    CHECK(read_all(ends[0], text, 5) == 5);
    say("the child got %s\n", text);
    _exit(0);
  }
  int process = (int)syscall(SYS_pidfd_open, pid, 0);
  CHECK(process >= 0);
  write_all(copy_of(process, 1), "through the copy\n", 17);
  write_all(copy_of(process, ends[1]), "hello", 5);
  return exit_status(pid);
}

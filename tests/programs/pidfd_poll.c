// pidfd: a process as a descriptor, polled, signalled and reaped.
// e2e: stable
#include <poll.h>
#include <sys/syscall.h>

#include "common.h"

int main(void) {
  pid_t pid = fork_checked();
  if (pid == 0)
    for (;;) pause();
  int fd = (int)syscall(SYS_pidfd_open, pid, 0);
  CHECK(fd >= 0);
  struct pollfd p = {fd, POLLIN, 0};
  say("alive: poll %d\n", poll(&p, 1, 0));
  CHECK(syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0) == 0);
  int n = poll(&p, 1, -1);
  say("signalled: poll %d, readable %d\n", n, p.revents == POLLIN);
  siginfo_t info;
  CHECK(waitid(P_PIDFD, (id_t)fd, &info, WEXITED) == 0);
  say("reaped: %d by signal %d\n", info.si_pid == pid, info.si_status);
  CHECK(syscall(SYS_pidfd_send_signal, fd, SIGTERM, NULL, 0) < 0);
  say("again: %s\n", strerror(errno));
  return 0;
}

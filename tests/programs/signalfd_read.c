// signalfd: blocked signals of a child read as records, its end included; nothing more without blocking.
// e2e: stable
#include <sys/signalfd.h>

#include "common.h"

int main(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGUSR2);
  sigaddset(&set, SIGCHLD);
  CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
  int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
  CHECK(fd >= 0);
  int flags = fcntl(fd, F_GETFL), go[2];
  CHECK(pipe(go) == 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0);
  pid_t parent = getpid(), pid = fork_checked();
  if (pid == 0) {
    char byte;
    CHECK(kill(parent, SIGUSR1) == 0 && read(go[0], &byte, 1) == 1);
    CHECK(sigqueue(parent, SIGUSR2, (union sigval){.sival_int = 77}) == 0 && read(go[0], &byte, 1) == 1);
    _exit(5);
  }
  for (int i = 0; i < 3; i++) {
    struct signalfd_siginfo info;
    CHECK(read(fd, &info, sizeof info) == sizeof info);
    say("%s from child %d, value %d, status %d\n", strsignal((int)info.ssi_signo), (pid_t)info.ssi_pid == pid,
        info.ssi_signo == SIGUSR2 ? info.ssi_int : 0, info.ssi_signo == SIGCHLD ? info.ssi_status : 0);
    write_all(go[1], "g", 1);
  }
  CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
  struct signalfd_siginfo info;
  CHECK(read(fd, &info, sizeof info) < 0);
  say("nothing: %s\n", strerror(errno));
  CHECK(exit_status(pid) == 5);
  return 0;
}

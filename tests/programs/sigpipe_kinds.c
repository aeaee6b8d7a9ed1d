// SIGPIPE: by default it ends the writer, ignored it is EPIPE, with MSG_NOSIGNAL too, handled it is both.
// e2e: stable
#include <sys/socket.h>

#include "common.h"

static volatile sig_atomic_t taken;
static void take(int sig) { taken = sig; }

int main(void) {
  int ends[2], s[2];
  CHECK(pipe(ends) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
  close(ends[0]);
  close(s[0]);
  pid_t pid = fork_checked();
  if (pid == 0) {
    write(ends[1], "x", 1) < 0 ? _exit(1) : _exit(2);
  }
  int status;
  CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
  say("default: %s\n", strsignal(WTERMSIG(status)));
  CHECK(send(s[1], "x", 1, MSG_NOSIGNAL) < 0);
  say("no signal: %s\n", strerror(errno));
  on_signal_flags(SIGPIPE, take, 0);
  CHECK(write(ends[1], "x", 1) < 0);
  say("handled: %s, taken %d\n", strerror(errno), taken == SIGPIPE);
  signal(SIGPIPE, SIG_IGN);
  CHECK(write(s[1], "x", 1) < 0);
  say("ignored: %s\n", strerror(errno));
  return 0;
}

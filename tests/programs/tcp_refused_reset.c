// What goes wrong on TCP: refused, reset by a lingering close, a write into a connection that is gone.
// e2e: stable
#include "net.h"

int main(void) {
  int listener = listening(SOCK_STREAM, loopback(AF_INET, 0));
  int port = port_of(listener);
  pid_t pid = fork_checked();
  if (pid == 0) {
    int fd = accepted(listener);
    char byte;
    CHECK(read_all(fd, &byte, 1) == 1);
    struct linger now = {1, 0};
    CHECK(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now) == 0);
    close(fd);
    _exit(0);
  }
  int fd = connected(SOCK_STREAM, loopback(AF_INET, port));
  close(listener);
  write_all(fd, "x", 1);
  char byte;
  CHECK(read(fd, &byte, 1) < 0);
  say("read: %s\n", strerror(errno));
  signal(SIGPIPE, SIG_IGN);
  CHECK(write(fd, "x", 1) < 0);
  say("write: %s\n", strerror(errno));
  CHECK(exit_status(pid) == 0);
  fd = socket(AF_INET, SOCK_STREAM, 0);
  struct Address to = loopback(AF_INET, port);
  CHECK(connect(fd, addr(&to), to.size) < 0);
  say("connect: %s\n", strerror(errno));
  return 0;
}

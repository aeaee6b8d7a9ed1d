// Half-close: the client ends its direction, the server answers after the end of file.
// e2e: stable
#include "net.h"

int main(void) {
  int listener = listening(SOCK_STREAM, loopback(AF_INET, 0));
  int port = port_of(listener);
  pid_t pid = fork_checked();
  if (pid == 0) {
    int fd = connected(SOCK_STREAM, loopback(AF_INET, port));
    for (int i = 0; i < 100; i++) dprintf(fd, "%d ", i);
    CHECK(shutdown(fd, SHUT_WR) == 0);
    char text[60] = "";
    read_all(fd, text, sizeof text - 1);
    say("client got: %s\n", text);
    signal(SIGPIPE, SIG_IGN);
    CHECK(write(fd, "x", 1) < 0);
    say("writing after shutdown: %s\n", strerror(errno));
    _exit(0);
  }
  int fd = accepted(listener);
  char text[1000] = "";
  size_t n = read_all(fd, text, sizeof text - 1);
  dprintf(fd, "%zu bytes before the end, hash %08x", n, hash_bytes(HASH_START, text, n));
  CHECK(shutdown(fd, SHUT_RDWR) == 0);
  close(fd);
  return exit_status(pid);
}

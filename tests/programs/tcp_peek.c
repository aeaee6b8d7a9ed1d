// MSG_PEEK: bytes seen twice, then taken; FIONREAD before and after.
// e2e: stable
#include <sys/ioctl.h>

#include "net.h"

int main(void) {
  int listener = listening(SOCK_STREAM, loopback(AF_INET, 0));
  int port = port_of(listener);
  pid_t pid = fork_checked();
  if (pid == 0) {
    int fd = connected(SOCK_STREAM, loopback(AF_INET, port));
    write_all(fd, "GET /index", 10);
    char byte;
    CHECK(read_all(fd, &byte, 1) == 0);
    _exit(0);
  }
  int fd = accepted(listener), waiting;
  char text[20] = "";
  CHECK(recv(fd, text, 10, MSG_PEEK | MSG_WAITALL) == 10);
  say("peeked: %s\n", text);
  memset(text, 0, sizeof text);
  CHECK(recv(fd, text, 3, MSG_PEEK) == 3);
  say("peeked again: %s\n", text);
  CHECK(ioctl(fd, FIONREAD, &waiting) == 0);
  say("waiting: %d\n", waiting);
  memset(text, 0, sizeof text);
  CHECK(recv(fd, text, 4, 0) == 4);
  say("taken: %s\n", text);
  CHECK(ioctl(fd, FIONREAD, &waiting) == 0);
  memset(text, 0, sizeof text);
  CHECK(recv(fd, text, sizeof text, 0) == 6);
  say("waiting then: %d, rest: %s\n", waiting, text);
  CHECK(recv(fd, text, 1, MSG_PEEK | MSG_DONTWAIT) < 0);
  say("nothing: %s\n", strerror(errno));
  close(fd);
  return exit_status(pid);
}

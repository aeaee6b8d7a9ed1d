// Non-blocking connect: in progress, then writable, SO_ERROR; once to a server and once to nobody.
// e2e: stable
#include <poll.h>

#include "net.h"

static void attempt(const char* what, int port) {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  CHECK(fd >= 0);
  struct Address to = loopback(AF_INET, port);
  CHECK(connect(fd, addr(&to), to.size) < 0);
  say("%s: %s\n", what, strerror(errno));
  struct pollfd p = {fd, POLLOUT, 0};
  CHECK(poll(&p, 1, 5000) == 1);
  int error;
  socklen_t size = sizeof error;
  CHECK(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0);
  say("%s: writable %d, hung up %d, then %s\n", what, !!(p.revents & POLLOUT), !!(p.revents & POLLHUP),
      strerror(error));
  if (error == 0) CHECK(send(fd, "made it", 7, 0) == 7);
  close(fd);
}

int main(void) {
  int listener = listening(SOCK_STREAM, loopback(AF_INET, 0));
  int port = port_of(listener);
  pid_t pid = fork_checked();
  if (pid == 0) {
    int fd = accepted(listener);
    char text[20] = "";
    read_all(fd, text, sizeof text - 1);
    say("server got: %s\n", text);
    _exit(0);
  }
  attempt("server", port);
  CHECK(exit_status(pid) == 0);
  close(listener);
  attempt("nobody", port);
  return 0;
}

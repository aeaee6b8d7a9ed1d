// A Unix stream server on a path: four clients at once, answered in the order of accept.
// e2e: varies
#include "net.h"

int main(void) {
  struct Address name = unix_name("socket");
  int listener = listening(SOCK_STREAM, name);
  pid_t pids[4];
  for (int i = 0; i < 4; i++) {
    pids[i] = fork_checked();
    if (pids[i] == 0) {
      int fd = connected(SOCK_STREAM, name);
      char answer[40] = "";
      dprintf(fd, "client %d", i);
      CHECK(shutdown(fd, SHUT_WR) == 0);
      read_all(fd, answer, sizeof answer - 1);
      say("client %d got: %s\n", i, answer);
      _exit(0);
    }
  }
  for (int i = 0; i < 4; i++) {
    struct Address peer = {.size = sizeof peer.storage};
    int fd = accept(listener, addr(&peer), &peer.size);
    CHECK(fd >= 0);
    char text[40] = "";
    read_all(fd, text, sizeof text - 1);
    dprintf(fd, "%s was number %d", text, i);
    close(fd);
  }
  for (int i = 0; i < 4; i++) CHECK(exit_status(pids[i]) == 0);
  CHECK(unlink("socket") == 0);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  CHECK(connect(fd, addr(&name), name.size) < 0);
  say("after unlink: %s\n", strerror(errno));
  return 0;
}

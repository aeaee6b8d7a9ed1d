// Three processes accept on one listening socket; twelve connections show who served whom.
// e2e: varies
#include "net.h"

static void serve(int listener, int me) {
  for (int served = 0;; served++) {
    int fd = accepted(listener);
    char request;
    CHECK(read_all(fd, &request, 1) == 1);
    if (request == 'q') {
      say("worker %d served %d\n", me, served);
      _exit(0);
    }
    char answer[2] = {(char)('0' + me), request};
    write_all(fd, answer, 2);
    close(fd);
  }
}

int main(void) {
  int listener = listening(SOCK_STREAM, loopback(AF_INET, 0));
  struct Address to = loopback(AF_INET, port_of(listener));
  pid_t workers[3], clients[4];
  for (int i = 0; i < 3; i++)
    if ((workers[i] = fork_checked()) == 0) serve(listener, i);
  close(listener);
  for (int i = 0; i < 4; i++) {
    if ((clients[i] = fork_checked()) != 0) continue;
    char by[4] = "";
    for (int k = 0; k < 3; k++) {
      int fd = connected(SOCK_STREAM, to);
      char request = (char)('a' + k), answer[2];
      write_all(fd, &request, 1);
      CHECK(read_all(fd, answer, 2) == 2 && answer[1] == request);
      by[k] = answer[0];
      close(fd);
    }
    say("client %d served by %s\n", i, by);
    _exit(0);
  }
  for (int i = 0; i < 4; i++) CHECK(exit_status(clients[i]) == 0);
  for (int i = 0; i < 3; i++) write_all(connected(SOCK_STREAM, to), "q", 1);
  for (int i = 0; i < 3; i++) CHECK(exit_status(workers[i]) == 0);
  return 0;
}

// One connection end in two processes after fork: both read from it, both write to it.
// e2e: varies
#include "net.h"

int main(void) {
  int listener = listening(SOCK_STREAM, loopback(AF_INET, 0));
  int port = port_of(listener);
  pid_t peer = fork_checked();
  if (peer == 0) {
    int fd = connected(SOCK_STREAM, loopback(AF_INET, port));
    for (int i = 0; i < 100; i++) write_all(fd, &i, sizeof i);
    CHECK(shutdown(fd, SHUT_WR) == 0);
    char order[201] = "";
    size_t n = read_all(fd, order, 200);
    say("%zu answers: %s\n", n, order);
    _exit(0);
  }
  int fd = accepted(listener);
  pid_t second = fork_checked();
  int number, count = 0;
  uint32_t which = HASH_START;
  struct iovec part = {&number, sizeof number};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  while ((count % 2 ? recvmsg(fd, &message, MSG_WAITALL) : recv(fd, &number, sizeof number, MSG_WAITALL)) == sizeof number) {
    which = hash_bytes(which, &number, sizeof number);
    count++;
    write_all(fd, second == 0 ? "c" : "p", 1);
    if (count % 10 == 0) usleep(100);
  }
  say("%s: %d numbers, %08x\n", second == 0 ? "child" : "parent", count, which);
  if (second == 0) _exit(0);
  CHECK(exit_status(second) == 0);
  close(fd);
  return exit_status(peer);
}

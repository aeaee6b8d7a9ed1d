// A datagram socketpair: boundaries kept, truncation seen, an empty message.
// e2e: stable
#include "net.h"

int main(void) {
  int s[2];
  CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, s) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    CHECK(send(s[1], "first", 5, 0) == 5);
    CHECK(send(s[1], "", 0, 0) == 0);
    CHECK(send(s[1], "a rather long one", 17, 0) == 17);
    CHECK(send(s[1], "last", 4, 0) == 4);
    _exit(0);
  }
  for (int i = 0; i < 4; i++) {
    char text[8] = "";
    struct iovec part = {text, sizeof text - 1};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t n = recvmsg(s[0], &message, 0);
    CHECK(n >= 0);
    say("%zd: '%s'%s\n", n, text, message.msg_flags & MSG_TRUNC ? " truncated" : "");
  }
  CHECK(exit_status(pid) == 0);
  char byte;
  CHECK(recv(s[0], &byte, 1, MSG_DONTWAIT) < 0);
  say("nothing more: %s\n", strerror(errno));
  return 0;
}

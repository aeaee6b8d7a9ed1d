// Credentials on a Unix socket: with SO_PASSCRED each message names its sender.
// e2e: stable
#include "net.h"

int main(void) {
  int s[2], one = 1;
  CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, s) == 0);
  CHECK(setsockopt(s[0], SOL_SOCKET, SO_PASSCRED, &one, sizeof one) == 0);
  pid_t pids[2];
  for (int i = 0; i < 2; i++) {
    if ((pids[i] = fork_checked()) == 0) {
      char byte = (char)('a' + i);
      CHECK(send(s[1], &byte, 1, 0) == 1);
      _exit(0);
    }
    char byte, control[CMSG_SPACE(sizeof(struct ucred))];
    struct iovec part = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    CHECK(recvmsg(s[0], &message, 0) == 1);
    struct cmsghdr* header = CMSG_FIRSTHDR(&message);
    CHECK(header != NULL && header->cmsg_type == SCM_CREDENTIALS);
    struct ucred who;
    memcpy(&who, CMSG_DATA(header), sizeof who);
    say("%c: from child %d, uid mine %d\n", byte, who.pid == pids[i], who.uid == getuid());
    CHECK(exit_status(pids[i]) == 0);
  }
  return 0;
}

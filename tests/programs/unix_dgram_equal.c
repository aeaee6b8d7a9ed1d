// Several senders send equal messages to one full datagram socket by name: all arrive, whoever they are from.
// e2e: stable
#include "net.h"

int main(void) {
  struct Address name = unix_name("socket");
  int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
  CHECK(fd >= 0 && bind(fd, addr(&name), name.size) == 0);
  pid_t pids[4];
  for (int i = 0; i < 4; i++) {
    pids[i] = fork_checked();
    if (pids[i]) continue;
    int mine = socket(AF_UNIX, SOCK_DGRAM, 0);
    for (int k = 0; k < 100; k++) CHECK(sendto(mine, "the same", 8, 0, addr(&name), name.size) == 8);
    _exit(0);
  }
  int same = 0;
  for (int k = 0; k < 400; k++) {
    char text[20];
    same += recv(fd, text, sizeof text, 0) == 8 && memcmp(text, "the same", 8) == 0;
  }
  for (int i = 0; i < 4; i++) CHECK(exit_status(pids[i]) == 0);
  say("%d of 400\n", same);
  return 0;
}

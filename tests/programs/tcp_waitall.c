// MSG_WAITALL: one receive gathers what came in pieces; cut short by the end.
// e2e: stable
#include "net.h"

int main(void) {
  int listener = listening(SOCK_STREAM, loopback(AF_INET, 0));
  int port = port_of(listener);
  pid_t pid = fork_checked();
  if (pid == 0) {
    int fd = connected(SOCK_STREAM, loopback(AF_INET, port));
    char piece[300];
    for (int i = 0; i < 5; i++) {
      memset(piece, 'a' + i, sizeof piece);
      write_all(fd, piece, sizeof piece);
      sleep_ms(3);
    }
    _exit(0);
  }
  int fd = accepted(listener);
  char text[1000];
  ssize_t n = recv(fd, text, sizeof text, MSG_WAITALL);
  say("first: %zd, %08x\n", n, hash_bytes(HASH_START, text, (size_t)n));
  n = recv(fd, text, sizeof text, MSG_WAITALL);
  say("second: %zd, %08x\n", n, hash_bytes(HASH_START, text, (size_t)n));
  return exit_status(pid);
}

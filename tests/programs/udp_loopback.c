// UDP: an echo over IPv4 and IPv6 with addresses, broken datagrams included.
// e2e: varies needs=ipv6
#include "net.h"

static void echo(int family) {
  int server = bound(SOCK_DGRAM, loopback(family, 0));
  struct Address to = loopback(family, port_of(server));
  pid_t pid = fork_checked();
  if (pid == 0) {
    for (;;) {
      char text[100];
      struct Address from = {.size = sizeof from.storage};
      ssize_t n = recvfrom(server, text, sizeof text, 0, addr(&from), &from.size);
      CHECK(n >= 0);
      if (n == 0) _exit(0);
      for (ssize_t i = 0; i < n; i++)
        if (text[i] >= 'a') text[i] = (char)(text[i] - 32);
      CHECK(sendto(server, text, (size_t)n, 0, addr(&from), from.size) == n);
    }
  }
  int fd = socket(family, SOCK_DGRAM, 0);
  for (int i = 0; i < 8; i++) {
    char text[40];
    int n = snprintf(text, sizeof text, "%d. datagram, echoed", i);
    CHECK(sendto(fd, text, (size_t)n, 0, addr(&to), to.size) == n);
    char back[12] = "";
    ssize_t got = recv(fd, back, sizeof back - 1, MSG_TRUNC);
    say("port %d: %zd: %s\n", port_of(fd), got, back);
  }
  CHECK(sendto(fd, "", 0, 0, addr(&to), to.size) == 0);
  CHECK(exit_status(pid) == 0);
}

int main(void) {
  echo(AF_INET);
  echo(AF_INET6);
  return 0;
}

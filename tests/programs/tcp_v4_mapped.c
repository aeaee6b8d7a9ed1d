// A server on IPv6's any-address reached over IPv4: the peer is a mapped address.
// e2e: stable needs=ipv6
#include "net.h"

int main(void) {
  struct Address any = loopback(AF_INET6, 0);
  ((struct sockaddr_in6*)&any.storage)->sin6_addr = in6addr_any;
  int listener = listening(SOCK_STREAM, any);
  int port = port_of(listener);
  pid_t pid = fork_checked();
  if (pid == 0) {
    int fd = connected(SOCK_STREAM, loopback(AF_INET, port));
    write_all(fd, "over four", 9);
    _exit(0);
  }
  struct Address peer = {.size = sizeof peer.storage};
  int fd = accept(listener, addr(&peer), &peer.size);
  CHECK(fd >= 0);
  char ip[INET6_ADDRSTRLEN], text[20] = "";
  read_all(fd, text, sizeof text - 1);
  say("%s from %s\n", text,
      inet_ntop(AF_INET6, &((struct sockaddr_in6*)&peer.storage)->sin6_addr, ip, sizeof ip));
  return exit_status(pid);
}

// Socket options set and read back, names of both ends, and TCP_INFO as it happens to be.
// e2e: varies
#include "net.h"

static int option(int fd, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  CHECK(getsockopt(fd, level, name, &value, &size) == 0);
  return value;
}

int main(void) {
  int one = 1, buffer = 30000;
  int listener = listening(SOCK_STREAM, loopback(AF_INET, 0));
  CHECK(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0);
  int fd = connected(SOCK_STREAM, loopback(AF_INET, port_of(listener)));
  CHECK(setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) == 0);
  CHECK(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer) == 0);
  CHECK(setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one) == 0);
  say("type %d, listening %d and %d, reuse %d\n", option(fd, SOL_SOCKET, SO_TYPE),
      option(listener, SOL_SOCKET, SO_ACCEPTCONN), option(fd, SOL_SOCKET, SO_ACCEPTCONN),
      option(listener, SOL_SOCKET, SO_REUSEADDR));
  say("nodelay %d, keepalive %d, send buffer %d\n", option(fd, IPPROTO_TCP, TCP_NODELAY),
      option(fd, SOL_SOCKET, SO_KEEPALIVE), option(fd, SOL_SOCKET, SO_SNDBUF));
  struct Address peer = {.size = sizeof peer.storage};
  CHECK(getpeername(fd, addr(&peer), &peer.size) == 0);
  CHECK(ntohs(((struct sockaddr_in*)&peer.storage)->sin_port) == port_of(listener));
  struct tcp_info info;
  socklen_t size = sizeof info;
  CHECK(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) == 0);
  say("port %d to %d, state %d, rtt %u us\n", port_of(fd), port_of(listener), info.tcpi_state, info.tcpi_rtt);
  CHECK(setsockopt(fd, SOL_SOCKET, 9999, &one, sizeof one) < 0);
  say("unknown option: %s\n", strerror(errno));
  return 0;
}

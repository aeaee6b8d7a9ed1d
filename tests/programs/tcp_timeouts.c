// SO_RCVTIMEO and SO_SNDTIMEO: receives and sends that give up.
// e2e: stable
#include <sys/time.h>

#include "net.h"

int main(void) {
  int listener = listening(SOCK_STREAM, loopback(AF_INET, 0));
  int a = connected(SOCK_STREAM, loopback(AF_INET, port_of(listener)));
  int b = accepted(listener);
  struct timeval limit = {0, 20000};
  CHECK(setsockopt(a, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
  char byte;
  CHECK(recv(a, &byte, 1, 0) < 0);
  say("receive: %s\n", strerror(errno));
  CHECK(setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
  CHECK(accept(listener, NULL, NULL) < 0);
  say("accept: %s\n", strerror(errno));
  int small = 4096;
  CHECK(setsockopt(a, SOL_SOCKET, SO_SNDBUF, &small, sizeof small) == 0);
  CHECK(setsockopt(b, SOL_SOCKET, SO_RCVBUF, &small, sizeof small) == 0);
  CHECK(setsockopt(a, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0);
  static char block[1 << 20];
  ssize_t n;
  while ((n = send(a, block, sizeof block, 0)) > 0) {
  }
  say("send: %s\n", strerror(errno));
  return 0;
}

// A connected UDP socket: filters senders, is refused by nobody's port, can be dissolved.
// e2e: stable
#include "net.h"

int main(void) {
  int a = bound(SOCK_DGRAM, loopback(AF_INET, 0)), b = bound(SOCK_DGRAM, loopback(AF_INET, 0));
  int stranger = socket(AF_INET, SOCK_DGRAM, 0);
  struct Address to_a = loopback(AF_INET, port_of(a)), to_b = loopback(AF_INET, port_of(b));
  CHECK(connect(a, addr(&to_b), to_b.size) == 0);
  CHECK(sendto(stranger, "stranger", 8, 0, addr(&to_a), to_a.size) == 8);
  CHECK(sendto(b, "friend", 6, 0, addr(&to_a), to_a.size) == 6);
  char text[20] = "";
  CHECK(recv(a, text, sizeof text, 0) > 0);
  say("received from: %s\n", text);
  close(b);
  CHECK(send(a, "anyone?", 7, 0) == 7);
  CHECK(recv(a, text, sizeof text, 0) < 0);
  say("port closed: %s\n", strerror(errno));
  struct sockaddr nobody = {.sa_family = AF_UNSPEC};
  CHECK(connect(a, &nobody, sizeof nobody) == 0);
  CHECK(send(a, "x", 1, 0) < 0);
  say("dissolved: %s\n", strerror(errno));
  return 0;
}

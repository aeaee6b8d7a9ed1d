// Both ends of a TCP connection in one process: connect before accept, send before accept.
// e2e: stable
#include "net.h"

int main(void) {
  int listener = listening(SOCK_STREAM, loopback(AF_INET, 0));
  int a = connected(SOCK_STREAM, loopback(AF_INET, port_of(listener)));
  write_all(a, "sent before accept", 18);
  int b = accepted(listener);
  char text[20] = "";
  CHECK(read_all(b, text, 18) == 18);
  say("%s\n", text);
  write_all(b, "and back", 8);
  memset(text, 0, sizeof text);
  CHECK(read_all(a, text, 8) == 8);
  say("%s\n", text);
  close(a);
  say("end: %zd\n", read(b, text, 1));
  return 0;
}

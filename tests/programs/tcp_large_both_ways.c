// Three megabytes in both directions at once over non-blocking TCP; the number of receives is shown.
// e2e: varies
#include <poll.h>

#include "net.h"

enum { kSize = 3 << 20 };

static void exchange(int fd, const char* who, int seed, int other) {
  static char out[kSize], in[kSize];
  fill_random(out, kSize, (uint64_t)seed);
  CHECK(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
  size_t sent = 0, received = 0;
  int sends = 0, receives = 0, polls = 0;
  while (sent < kSize || received < kSize) {
    struct pollfd p = {fd, (short)(POLLIN | (sent < kSize ? POLLOUT : 0)), 0};
    CHECK(poll(&p, 1, 10000) == 1);
    polls++;
    if (p.revents & POLLIN) {
      ssize_t n = recv(fd, in + received, kSize - received, 0);
      CHECK(n > 0);
      received += (size_t)n;
      receives++;
    }
    if (p.revents & POLLOUT) {
      ssize_t n = send(fd, out + sent, kSize - sent, 0);
      CHECK(n > 0 || errno == EAGAIN);
      if (n > 0) sent += (size_t)n;
      sends++;
    }
  }
  fill_random(out, kSize, (uint64_t)other);
  CHECK(memcmp(in, out, kSize) == 0);
  say("%s: %d sends, %d receives, %d polls\n", who, sends, receives, polls);
}

int main(void) {
  int listener = listening(SOCK_STREAM, loopback(AF_INET, 0));
  int port = port_of(listener);
  pid_t pid = fork_checked();
  if (pid == 0) {
    exchange(connected(SOCK_STREAM, loopback(AF_INET, port)), "client", 1, 2);
    _exit(0);
  }
  exchange(accepted(listener), "server", 2, 1);
  return exit_status(pid);
}

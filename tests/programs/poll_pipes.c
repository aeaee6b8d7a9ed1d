// poll: three pipes in the order they became readable, hang-up, an invalid descriptor, a timeout.
// e2e: varies
#include <poll.h>

#include "tickers.h"

int main(void) {
  struct Tickers t = start_tickers(0);
  for (int left = kTickers; left > 0;) {
    struct pollfd p[kTickers];
    for (int i = 0; i < kTickers; i++) p[i] = (struct pollfd){t.fd[i], POLLIN, 0};
    int n = poll(p, kTickers, -1);
    CHECK(n > 0);
    say("%d: ", n);
    for (int i = 0; i < kTickers; i++)
      if (p[i].revents) left -= take(&t, i);
  }
  int ends[2];
  CHECK(pipe(ends) == 0);
  struct pollfd p[2] = {{ends[0], POLLIN, 0}, {20, POLLIN, 0}};
  int n = poll(p, 1, 5);
  say("\ntimeout %d", n);
  n = poll(p, 2, -1);
  say(", invalid %d %d", n, p[1].revents == POLLNVAL);
  close(ends[1]);
  n = poll(p, 1, -1);
  say(", hang-up %d %d\n", n, p[0].revents == POLLHUP);
  return 0;
}

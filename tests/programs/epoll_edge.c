// epoll, edge-triggered, with pointers as data: each edge is drained until nothing is there.
// e2e: varies
#include <sys/epoll.h>

#include "tickers.h"

int main(void) {
  struct Tickers t = start_tickers(O_NONBLOCK);
  int epoll = epoll_create1(0), edges = 0;
  for (int i = 0; i < kTickers; i++) {
    struct epoll_event event = {EPOLLIN | EPOLLET, {.ptr = &t.fd[i]}};
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, t.fd[i], &event) == 0);
  }
  for (int left = kTickers; left > 0;) {
    struct epoll_event events[kTickers];
    int n = epoll_wait(epoll, events, kTickers, -1);
    CHECK(n > 0);
    for (int k = 0; k < n; k++) {
      int* fd = events[k].data.ptr;
      char text[4];
      ssize_t got;
      edges++;
      say("%c(", 'a' + (int)(fd - t.fd));
      while ((got = read(*fd, text, sizeof text)) > 0) say("%d", (int)got);
      say(")");
      if (got == 0) {
        CHECK(epoll_ctl(epoll, EPOLL_CTL_DEL, *fd, NULL) == 0 && close(*fd) == 0);
        left--;
      } else {
        CHECK(errno == EAGAIN);
      }
    }
  }
  say("\n%d edges\n", edges);
  for (int i = 0; i < kTickers; i++) CHECK(exit_status(t.pid[i]) == 0);
  return 0;
}

// epoll, level-triggered, with pointers as data: partial reads are reported again.
// e2e: varies
#include <sys/epoll.h>

#include "tickers.h"

struct Source {
  int index;
  int events;
};

int main(void) {
  struct Tickers t = start_tickers(0);
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  CHECK(epoll >= 0);
  struct Source* sources[kTickers];
  for (int i = 0; i < kTickers; i++) {
    sources[i] = malloc(sizeof *sources[i]);
    *sources[i] = (struct Source){i, 0};
    struct epoll_event event = {EPOLLIN, {.ptr = sources[i]}};
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, t.fd[i], &event) == 0);
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, t.fd[i], &event) < 0 && errno == EEXIST);
  }
  for (int left = kTickers; left > 0;) {
    struct epoll_event events[2];
    int n = epoll_wait(epoll, events, 2, -1);
    CHECK(n > 0);
    for (int i = 0; i < n; i++) {
      struct Source* source = events[i].data.ptr;
      source->events++;
      char c;
      if (read(t.fd[source->index], &c, 1) == 1) {
        say("%c", c);
        continue;
      }
      left--;
      CHECK(epoll_ctl(epoll, EPOLL_CTL_DEL, t.fd[source->index], NULL) == 0);
    }
  }
  say("\n");
  for (int i = 0; i < kTickers; i++) {
    say("source %d: %d events\n", i, sources[i]->events);
    CHECK(sources[i]->events == kTicks + 1 && exit_status(t.pid[i]) == 0);
    free(sources[i]);
  }
  struct epoll_event event;
  say("empty: %d\n", epoll_wait(epoll, &event, 1, 3));
  return 0;
}

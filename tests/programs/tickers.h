// Three children that write into three pipes at their own pace; what the multiplexing programs listen to.
#include "common.h"

enum { kTickers = 3, kTicks = 6 };

struct Tickers {
  int fd[kTickers];
  pid_t pid[kTickers];
};

static inline struct Tickers start_tickers(int flags) {
  struct Tickers t;
  for (int i = 0; i < kTickers; i++) {
    int ends[2];
    CHECK(pipe2(ends, flags) == 0);
    if ((t.pid[i] = fork_checked()) == 0) {
      close(ends[0]);
      for (int k = 0; k < kTicks; k++) {
        char c = (char)('a' + i);
        write_all(ends[1], &c, 1);
        if (k % 2 == 0) usleep((useconds_t)(300 * (i + 1)));
      }
      _exit(0);
    }
    close(ends[1]);
    t.fd[i] = ends[0];
  }
  return t;
}

// Takes what is there from ticker `i`, prints it, and returns whether that was the end.
static inline int take(struct Tickers* t, int i) {
  char text[kTicks + 1];
  ssize_t n = read(t->fd[i], text, kTicks);
  if (n > 0) {
    say("%.*s ", (int)n, text);
    return 0;
  }
  CHECK(n == 0);
  say("end-%c ", 'a' + i);
  close(t->fd[i]);
  t->fd[i] = -1;
  CHECK(exit_status(t->pid[i]) == 0);
  return 1;
}

// select: three pipes in the order they became readable, a timeout, and a closed descriptor.
// e2e: varies
#include <sys/select.h>

#include "tickers.h"

int main(void) {
  struct Tickers t = start_tickers(0);
  for (int left = kTickers; left > 0;) {
    fd_set readable;
    FD_ZERO(&readable);
    int highest = -1;
    for (int i = 0; i < kTickers; i++) {
      if (t.fd[i] < 0) continue;
      FD_SET(t.fd[i], &readable);
      if (t.fd[i] > highest) highest = t.fd[i];
    }
    CHECK(select(highest + 1, &readable, NULL, NULL, NULL) > 0);
    for (int i = 0; i < kTickers; i++)
      if (t.fd[i] >= 0 && FD_ISSET(t.fd[i], &readable)) left -= take(&t, i);
  }
  struct timeval wait = {0, 5000};
  int result = select(0, NULL, NULL, NULL, &wait);
  say("\ntimeout: %d, left %ld us\n", result, (long)wait.tv_usec);
  fd_set bad;
  FD_ZERO(&bad);
  FD_SET(20, &bad);
  CHECK(select(21, &bad, NULL, NULL, NULL) < 0);
  say("closed: %s\n", strerror(errno));
  return 0;
}

// A pipe whose two ends are in one process: sizes, FIONREAD, capacity, end of file, no reader.
// e2e: stable
#include <sys/ioctl.h>

#include "common.h"

int main(void) {
  int ends[2], waiting;
  CHECK(pipe(ends) == 0);
  write_all(ends[1], "hello, self", 11);
  CHECK(ioctl(ends[0], FIONREAD, &waiting) == 0);
  say("waiting %d, capacity %d\n", waiting, fcntl(ends[0], F_GETPIPE_SZ));
  say("new capacity %d\n", fcntl(ends[1], F_SETPIPE_SZ, 200000));
  char text[20] = "";
  say("part: %zd", read(ends[0], text, 5));
  say(" %s\n", text);
  close(ends[1]);
  memset(text, 0, sizeof text);
  say("rest: %zu", read_all(ends[0], text, sizeof text));
  say(" %s\n", text);
  CHECK(pipe(ends) == 0);
  close(ends[0]);
  signal(SIGPIPE, SIG_IGN);
  CHECK(write(ends[1], "x", 1) < 0);
  say("no reader: %s\n", strerror(errno));
  return 0;
}

// Pipes with O_DIRECT, at once and later: reads end where writes did, and what does not fit is lost.
// e2e: stable
#include "common.h"

static void run(int flags, int later) {
  int ends[2];
  CHECK(pipe2(ends, flags) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    close(ends[0]);
    if (later) CHECK(fcntl(ends[1], F_SETFL, O_DIRECT) == 0);
    char text[9000];
    fill_random(text, sizeof text, 3);
    for (int i = 0; i < 6; i++) CHECK(write(ends[1], text + i, 50 + (size_t)i * 10) == 50 + i * 10);
    CHECK(write(ends[1], text, sizeof text) == sizeof text);
    _exit(0);
  }
  close(ends[1]);
  // All of them are there before the first is read.
  CHECK(exit_status(pid) == 0);
  char text[5000];
  ssize_t n;
  for (int i = 0; (n = read(ends[0], text, i % 2 ? 40 : sizeof text)) > 0; i++)
    say("%d: %zd %08x\n", i, n, hash_bytes(HASH_START, text, (size_t)n));
  CHECK(n == 0);
  close(ends[0]);
}

int main(void) {
  run(O_DIRECT, 0);
  run(0, 1);
  return 0;
}

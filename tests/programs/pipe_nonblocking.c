// Non-blocking pipes: a full one, an empty one, and a reader that counts how often nothing was there.
// e2e: varies
#include "common.h"

int main(void) {
  int ends[2];
  CHECK(pipe2(ends, O_NONBLOCK) == 0);
  char block[4096];
  memset(block, 'x', sizeof block);
  long filled = 0;
  ssize_t n;
  while ((n = write(ends[1], block, sizeof block)) > 0) filled += n;
  say("full after %ld: %s\n", filled, strerror(errno));
  long drained = 0;
  while ((n = read(ends[0], block, sizeof block)) > 0) drained += n;
  say("empty after %ld: %s\n", drained, strerror(errno));

  pid_t pid = fork_checked();
  if (pid == 0) {
    for (int i = 0; i < 5; i++) {
      sleep_ms(3);
      write_all(ends[1], "tick\n", 5);
    }
    _exit(0);
  }
  close(ends[1]);
  int empty = 0, reads = 0;
  while ((n = read(ends[0], block, sizeof block)) != 0) {
    if (n < 0) {
      CHECK(errno == EAGAIN);
      empty++;
      usleep(500);
    } else {
      reads++;
    }
  }
  say("%d reads, %d times empty\n", reads, empty);
  return exit_status(pid);
}

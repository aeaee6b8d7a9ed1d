// Three processes read from one pipe end; each shows which of the numbers it got.
// e2e: varies
#include "common.h"

int main(void) {
  int ends[2], results[2];
  CHECK(pipe(ends) == 0 && pipe(results) == 0);
  pid_t pids[3];
  for (int i = 0; i < 3; i++) {
    pids[i] = fork_checked();
    if (pids[i] == 0) {
      close(ends[1]);
      int number, count = 0;
      uint32_t which = HASH_START;
      while (read(ends[0], &number, sizeof number) == sizeof number) {
        which = hash_bytes(which, &number, sizeof number);
        count++;
        if (count % 7 == i) usleep(50);
      }
      say("reader %d: %d numbers, %08x\n", i, count, which);
      write_all(results[1], &count, sizeof count);
      _exit(0);
    }
  }
  close(ends[0]);
  for (int n = 0; n < 300; n++) write_all(ends[1], &n, sizeof n);
  close(ends[1]);
  int total = 0, count;
  for (int i = 0; i < 3; i++) {
    CHECK(read_all(results[0], &count, sizeof count) == sizeof count);
    total += count;
    CHECK(exit_status(pids[i]) == 0);
  }
  say("total %d\n", total);
  CHECK(total == 300);
  return 0;
}

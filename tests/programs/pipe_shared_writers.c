// Four processes write into one pipe end; the reader shows the order in which their lines came.
// e2e: varies
#include "common.h"

int main(void) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  pid_t pids[4];
  for (int i = 0; i < 4; i++) {
    pids[i] = fork_checked();
    if (pids[i] == 0) {
      for (int k = 0; k < 50; k++) {
        char line[16];
        int n = snprintf(line, sizeof line, "%c%03d\n", 'a' + i, k);
        write_all(ends[1], line, (size_t)n);
        if (k % 10 == i) usleep(100);
      }
      _exit(0);
    }
  }
  close(ends[1]);
  char text[4 * 50 * 5 + 1];
  size_t n = read_all(ends[0], text, sizeof text);
  CHECK(n == sizeof text - 1);
  text[n] = 0;
  for (size_t i = 0; i < n; i += 5) text[i / 5] = text[i];
  say("%.200s\n", text);
  for (int i = 0; i < 4; i++) CHECK(exit_status(pids[i]) == 0);
  return 0;
}

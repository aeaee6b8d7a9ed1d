// Pipes: question and answer between parent and child, blocking, up to the end of file.
// e2e: stable
#include "common.h"

int main(void) {
  int down[2], up[2];
  CHECK(pipe(down) == 0 && pipe(up) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    close(down[1]);
    close(up[0]);
    long n, sum = 0;
    while (read_all(down[0], &n, sizeof n) == sizeof n) {
      sum += n * n;
      write_all(up[1], &sum, sizeof sum);
    }
    _exit(0);
  }
  close(down[0]);
  close(up[1]);
  for (long n = 1; n <= 5; n++) {
    long sum;
    write_all(down[1], &n, sizeof n);
    CHECK(read_all(up[0], &sum, sizeof sum) == sizeof sum);
    say("%ld -> %ld\n", n, sum);
  }
  close(down[1]);
  char byte;
  say("end of file: %zd\n", read(up[0], &byte, 1));
  return exit_status(pid);
}

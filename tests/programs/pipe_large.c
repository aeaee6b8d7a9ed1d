// More than a pipe holds: 2 MB in odd pieces, read in other odd pieces; the number of reads is shown.
// e2e: varies
#include "common.h"

enum { kSize = 2 << 20 };
static char data[kSize];

int main(void) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    close(ends[0]);
    fill_random(data, kSize, 1);
    for (size_t at = 0, step = 1; at < kSize; at += step, step = step * 3 % 100003) {
      if (step > kSize - at) step = kSize - at;
      write_all(ends[1], data + at, step);
    }
    _exit(0);
  }
  close(ends[1]);
  size_t total = 0;
  int reads = 0;
  ssize_t n;
  while ((n = read(ends[0], data + total, 30011)) > 0) {
    total += (size_t)n;
    reads++;
    if (total + 30011 > kSize) break;
  }
  total += read_all(ends[0], data + total, kSize - total);
  say("%zu bytes, hash %08x, %d reads\n", total, hash_bytes(HASH_START, data, total), reads);
  CHECK(total == kSize);
  return exit_status(pid);
}

// /dev/zero, by read, readv and pread, into memory that was not zero; through a pipe as well.
// e2e: stable
#include <sys/uio.h>

#include "common.h"

int main(void) {
  static char block[100000];
  int fd = open("/dev/zero", O_RDONLY), ends[2];
  CHECK(fd >= 0 && pipe(ends) == 0);
  memset(block, 'x', sizeof block);
  CHECK(read(fd, block + 1, sizeof block - 2) == sizeof block - 2);
  CHECK(block[0] == 'x' && block[sizeof block - 1] == 'x');
  long sum = 0;
  for (size_t i = 0; i < sizeof block; i++) sum += block[i];
  say("sum %ld\n", sum);
  char a[3] = "abc", b[5] = "defgh";
  struct iovec parts[] = {{a, 2}, {b + 1, 3}};
  CHECK(readv(fd, parts, 2) == 5);
  say("%d%d%c %c%d%d%d%c\n", a[0], a[1], a[2], b[0], b[1], b[2], b[3], b[4]);
  memset(block, 'y', 10);
  CHECK(pread(fd, block, 5, 77) == 5);
  say("%d%c\n", block[4], block[5]);
  if (fork_checked() == 0) {
    for (int i = 0; i < 100; i++) {
      CHECK(read(fd, block, 5000) == 5000);
      write_all(ends[1], block, 5000);
    }
    _exit(0);
  }
  close(ends[1]);
  size_t n, all = 0;
  while ((n = read_all(ends[0], block, sizeof block)) > 0) {
    all += n;
    for (size_t i = 0; i < n; i++) CHECK(block[i] == 0);
  }
  say("%zu zeros\n", all);
  return 0;
}

// pread, pwrite, readv, writev, preadv, pwritev and the *2 variants.
// e2e: stable
#include <sys/uio.h>

#include "common.h"

int main(void) {
  int fd = open("file", O_RDWR | O_CREAT, 0600);
  struct iovec out[3] = {{"alpha ", 6}, {"", 0}, {"beta ", 5}};
  CHECK(writev(fd, out, 3) == 11);
  CHECK(pwrite(fd, "GAMMA", 5, 20) == 5);
  struct iovec more[2] = {{"in", 2}, {"side", 4}};
  CHECK(pwritev(fd, more, 2, 12) == 6);
  CHECK(pwritev2(fd, more, 2, -1, RWF_APPEND) == 6);
  say("position %ld\n", (long)lseek(fd, 0, SEEK_CUR));
  char a[7] = "", b[7] = "", c[20] = "";
  struct iovec in[3] = {{a, 6}, {b, 6}, {c, 19}};
  CHECK(lseek(fd, 0, SEEK_SET) == 0);
  ssize_t n = readv(fd, in, 3);
  for (ssize_t i = 0; i < n - 12; i++)
    if (c[i] == 0) c[i] = '.';
  say("readv %zd: %s|%s|%s\n", n, a, b, c);
  memset(a, 0, sizeof a);
  CHECK(pread(fd, a, 5, 20) == 5);
  say("pread: %s\n", a);
  memset(b, 0, sizeof b);
  struct iovec two[2] = {{b, 2}, {b + 2, 4}};
  CHECK(preadv(fd, two, 2, 12) == 6);
  say("preadv: %s\n", b);
  say("preadv2 past the end: %zd\n", preadv2(fd, two, 2, 1000, 0));
  struct iovec to_out[2] = {{"writev to ", 10}, {"standard output\n", 16}};
  CHECK(writev(1, to_out, 2) == 26);
  return 0;
}

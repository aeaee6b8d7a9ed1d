// copy_file_range where it exists, else pread and pwrite: the copy is right either way.
// e2e: stable
#include "common.h"

int main(void) {
  static char data[100000], copy[100000];
  fill_random(data, sizeof data, 4);
  int from = open("from", O_RDWR | O_CREAT, 0600), to = open("to", O_RDWR | O_CREAT, 0600);
  CHECK(from >= 0 && to >= 0);
  write_all(from, data, sizeof data);
  off_t in = 0, out = 0;
  while (in < (off_t)sizeof data) {
    ssize_t n = copy_file_range(from, &in, to, &out, sizeof data - (size_t)in, 0);
    if (n < 0) {
      CHECK(errno == ENOSYS || errno == EXDEV || errno == EINVAL || errno == EOPNOTSUPP);
      char block[8192];
      CHECK((n = pread(from, block, sizeof block, in)) > 0);
      CHECK(pwrite(to, block, (size_t)n, out) == n);
      in += n;
      out += n;
    }
    CHECK(n > 0);
  }
  CHECK(lseek(to, 0, SEEK_SET) == 0);
  size_t size = read_all(to, copy, sizeof copy);
  say("copied %zu, same %d\n", size, memcmp(data, copy, sizeof data) == 0);
  return 0;
}

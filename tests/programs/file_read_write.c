// Files: written, read back, positions, appending, reading past the end, wrong directions.
// e2e: stable
#include "common.h"

int main(void) {
  int fd = open("file", O_RDWR | O_CREAT | O_EXCL, 0640);
  CHECK(fd >= 0);
  CHECK(open("file", O_RDWR | O_CREAT | O_EXCL, 0640) < 0);
  say("exclusive: %s\n", strerror(errno));
  write_all(fd, "0123456789", 10);
  CHECK(lseek(fd, 3, SEEK_SET) == 3);
  char text[20] = "";
  CHECK(read(fd, text, 4) == 4);
  say("from 3: %s, now at %ld\n", text, (long)lseek(fd, 0, SEEK_CUR));
  CHECK(lseek(fd, 5, SEEK_END) == 15);
  say("past the end: %zd\n", read(fd, text, 1));
  write_all(fd, "x", 1);
  CHECK(lseek(fd, -16, SEEK_END) == 0);
  memset(text, '#', sizeof text);
  ssize_t n = read(fd, text, sizeof text);
  say("with a hole: %zd bytes, zero %d\n", n, text[12] == 0);
  close(fd);
  fd = open("file", O_WRONLY | O_APPEND);
  CHECK(lseek(fd, 0, SEEK_SET) == 0);
  write_all(fd, "end", 3);
  say("appended: size %ld\n", (long)lseek(fd, 0, SEEK_END));
  CHECK(read(fd, text, 1) < 0);
  say("reading what is write-only: %s\n", strerror(errno));
  say("seek before the start: %s\n", lseek(fd, -1, SEEK_SET) < 0 ? strerror(errno) : "done");
  return 0;
}

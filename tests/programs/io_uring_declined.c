// io_uring, where there is none, is declined and the program falls back to read; the result is the same.
// e2e: stable
#include <sys/syscall.h>

#include "common.h"

int main(void) {
  char parameters[120] = "";
  long ring = syscall(SYS_io_uring_setup, 4, parameters);
  if (ring >= 0) close((int)ring);
  write_file("file", "read the ordinary way", 0600);
  char text[40] = "";
  int fd = open("file", O_RDONLY);
  read_all(fd, text, sizeof text - 1);
  say("%s\n", text);
  return 0;
}

// A pipe that is opened once more, as /dev/fd/N: how shells hand over what is between their <( ).
// e2e: stable
#include "common.h"

int main(void) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    char path[30], text[6000];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    int fd = open(path, O_WRONLY);
    CHECK(fd >= 0);
    fill_random(text, sizeof text, 4);
    write_all(ends[1], text, 3000);
    write_all(fd, text + 3000, 3000);
    _exit(0);
  }
  close(ends[1]);
  char path[30], text[6001];
  snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
  int fd = open(path, O_RDONLY);
  CHECK(fd >= 0);
  CHECK(read_all(fd, text, 1000) == 1000);
  CHECK(read_all(ends[0], text + 1000, 2500) == 2500);
  close(ends[0]);
  CHECK(read_all(fd, text + 3500, 2501) == 2500);
  say("%08x\n", hash_bytes(HASH_START, text, 6000));
  return exit_status(pid);
}

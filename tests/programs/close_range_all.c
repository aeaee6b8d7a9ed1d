// close_range over everything above standard error; the program goes on as before.
// e2e: stable
#include "common.h"

int main(void) {
  int a = open("/dev/null", O_RDONLY), b = open("/dev/null", O_RDONLY);
  CHECK(a >= 0 && b >= 0);
  CHECK(close_range(3, ~0u, 0) == 0);
  say("closed: %s\n", fcntl(b, F_GETFD) < 0 ? strerror(errno) : "open");
  say("next descriptor %d\n", open("/dev/null", O_RDONLY));
  int ends[2];
  CHECK(pipe(ends) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    CHECK(close_range(ends[1] + 1, ~0u, 0) == 0);
    write_all(ends[1], "still working", 13);
    _exit(0);
  }
  char text[20] = "";
  CHECK(read_all(ends[0], text, 13) == 13);
  say("%s, status %d\n", text, exit_status(pid));
  CHECK(close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) == 0);
  say("marked: %d\n", fcntl(ends[0], F_GETFD) == FD_CLOEXEC);
  return 0;
}

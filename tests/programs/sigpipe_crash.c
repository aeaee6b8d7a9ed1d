// A program that ends by SIGPIPE, as `yes | head` does.
// e2e: stable exit=SIGPIPE
#include "common.h"

int main(void) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    close(ends[1]);
    char text[3];
    CHECK(read_all(ends[0], text, 2) == 2);
    say("enough\n");
    _exit(0);
  }
  close(ends[0]);
  for (;;)
    if (write(ends[1], "y\n", 2) != 2) return 1;
}

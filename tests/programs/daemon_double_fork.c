// A daemon: two forks and a setsid; it speaks only after the program that started it has ended.
// e2e: stable
#include "common.h"

int main(void) {
  int alive[2];
  CHECK(pipe(alive) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    CHECK(setsid() > 0);
    if (fork_checked() > 0) _exit(0);
    CHECK(chdir("/") == 0);
    close(alive[1]);
    char byte;
    CHECK(read_all(alive[0], &byte, 1) == 0);
    sleep_ms(50);
    say("daemon: my parent has ended, I have not\n");
    _exit(0);
  }
  CHECK(exit_status(pid) == 0);
  say("parent: daemon started\n");
  return 0;
}

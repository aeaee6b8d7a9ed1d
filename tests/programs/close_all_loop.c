// The old way to close everything: a loop over all descriptor numbers; then fork and exec go on.
// e2e: stable
#include "common.h"

int main(void) {
  for (int i = 0; i < 5; i++) CHECK(open("/dev/null", O_RDONLY) >= 0);
  int closed = 0;
  for (int fd = 3; fd < 2048; fd++) closed += close(fd) == 0;
  say("closed %d\n", closed);
  say("next descriptor %d\n", open("/dev/null", O_RDONLY));
  pid_t pid = fork_checked();
  if (pid == 0) {
    for (int fd = 3; fd < 2048; fd++) close(fd);
    execl("/bin/sh", "sh", "-c", "echo exec works too; exit 4", (char*)NULL);
    _exit(127);
  }
  say("status %d\n", exit_status(pid));
  return 0;
}

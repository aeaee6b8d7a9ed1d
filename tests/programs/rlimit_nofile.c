// RLIMIT_NOFILE lowered: descriptors run out, and what is open goes on working.
// e2e: stable
#include <sys/resource.h>

#include "common.h"

int main(void) {
  struct rlimit limit = {12, 12};
  CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  int fd, last = -1;
  while ((fd = dup(1)) >= 0) last = fd;
  say("last %d, then %s\n", last, strerror(errno));
  int ends[2];
  CHECK(pipe(ends) < 0);
  say("pipe: %s\n", strerror(errno));
  for (int i = 8; i <= last; i++) CHECK(close(i) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    execl("/bin/sh", "sh", "-c", "ulimit -n; exit 6", (char*)NULL);
    _exit(127);
  }
  say("status %d\n", exit_status(pid));
  return 0;
}

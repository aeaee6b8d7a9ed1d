// wait4 with resource usage, waiting for any child, and WNOHANG until something ended.
// e2e: varies
#include <sys/resource.h>

#include "common.h"

int main(void) {
  for (int i = 0; i < 4; i++) {
    if (fork_checked() == 0) {
      volatile unsigned long work = 0;
      while (work < 300000ul * (unsigned)(4 - i)) work++;
      _exit(20 + i);
    }
  }
  for (int i = 0; i < 2; i++) {
    int status;
    struct rusage usage;
    pid_t pid = wait4(-1, &status, 0, &usage);
    CHECK(pid > 0 && WIFEXITED(status));
    say("pid %d status %d, %ld us, %ld KB\n", pid, WEXITSTATUS(status), (long)usage.ru_utime.tv_usec,
        usage.ru_maxrss);
  }
  int polls = 0;
  for (int left = 2; left > 0;) {
    int status;
    pid_t pid = waitpid(-1, &status, WNOHANG);
    CHECK(pid >= 0);
    polls++;
    if (pid == 0) {
      sleep_ms(1);
      continue;
    }
    left--;
    say("pid %d status %d after %d polls\n", pid, WEXITSTATUS(status), polls);
  }
  CHECK(wait(NULL) < 0 && errno == ECHILD);
  return 0;
}

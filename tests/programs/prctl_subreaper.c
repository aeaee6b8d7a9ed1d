// prctl: names, a death signal, and a subreaper that adopts and reaps its grandchild.
// e2e: stable
#include <sys/prctl.h>

#include "common.h"

int main(void) {
  char name[16] = "";
  CHECK(prctl(PR_SET_NAME, "renamed") == 0 && prctl(PR_GET_NAME, name) == 0);
  int death = 0;
  CHECK(prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && prctl(PR_GET_PDEATHSIG, &death) == 0);
  say("name %s, death signal %d, dumpable %d\n", name, death, prctl(PR_GET_DUMPABLE));
  CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
  pid_t self = getpid(), pid = fork_checked();
  if (pid == 0) {
    pid_t parent = getpid();
    if (fork_checked() == 0) {
      while (getppid() == parent) sleep_ms(1);
      _exit(getppid() == self ? 33 : 34);
    }
    _exit(0);
  }
  CHECK(exit_status(pid) == 0);
  int status;
  CHECK(wait(&status) > 0);
  say("adopted grandchild: status %d\n", WEXITSTATUS(status));
  return 0;
}

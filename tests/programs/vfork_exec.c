// vfork: the child changes the parent's variable, then execs or exits; the parent goes on after it.
// e2e: stable
#include "common.h"

int main(void) {
  volatile int seen = 0;
  pid_t pid = vfork();
  CHECK(pid >= 0);
  if (pid == 0) {
    seen = 42;
    _exit(3);
  }
  say("vfork and exit: variable %d, status %d\n", seen, exit_status(pid));

  pid = vfork();
  CHECK(pid >= 0);
  if (pid == 0) {
    execl("/bin/sh", "sh", "-c", "echo from sh; exit 5", (char*)NULL);
    _exit(127);
  }
  say("vfork and exec: status %d\n", exit_status(pid));

  pid = vfork();
  CHECK(pid >= 0);
  if (pid == 0) {
    execl("/nonexistent/program", "program", (char*)NULL);
    seen = errno;
    _exit(127);
  }
  say("vfork and failed exec: status %d, %s\n", exit_status(pid), strerror(seen));
  return 0;
}

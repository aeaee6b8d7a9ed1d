// Handlers on an alternate stack, nested twice, and back on the ordinary one.
// e2e: stable
#include "common.h"

static char alternate[65536] __attribute__((aligned(16)));

static int on_alternate(void) {
  char here;
  return (char*)&here >= alternate && (char*)&here < alternate + sizeof alternate;
}
static void inner(int sig) {
  stack_t now;
  CHECK(sigaltstack(NULL, &now) == 0);
  say("  %s: alternate %d, in use %d\n", strsignal(sig), on_alternate(), !!(now.ss_flags & SS_ONSTACK));
}
static void outer(int sig) {
  say(" %s: alternate %d\n", strsignal(sig), on_alternate());
  raise(SIGUSR2);
}

int main(void) {
  stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
  CHECK(sigaltstack(&stack, NULL) == 0);
  on_signal_flags(SIGUSR1, outer, SA_ONSTACK);
  on_signal_flags(SIGUSR2, inner, SA_ONSTACK);
  raise(SIGUSR1);
  on_signal_flags(SIGUSR2, inner, 0);
  raise(SIGUSR2);
  pid_t parent = getpid(), pid = fork_checked();
  if (pid == 0) {
    kill(parent, SIGUSR1);
    _exit(0);
  }
  CHECK(exit_status(pid) == 0);
  say("main: alternate %d\n", on_alternate());
  return 0;
}

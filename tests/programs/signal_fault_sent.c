// SIGSEGV that somebody sends while it is blocked: pending, waited for, handled and deadly only once it is unblocked.
// e2e: stable
#include "common.h"

static void handle(int sig) { say("handled: %s\n", strsignal(sig)); }

static void unblocked(const char* what) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGSEGV);
  CHECK(raise(SIGSEGV) == 0);
  say("%s\n", what);
  CHECK(sigprocmask(SIG_UNBLOCK, &set, NULL) == 0);
}

int main(void) {
  sigset_t set, pending;
  sigemptyset(&set);
  sigaddset(&set, SIGSEGV);
  CHECK(sigprocmask(SIG_BLOCK, &set, NULL) == 0);
  CHECK(raise(SIGSEGV) == 0 && sigpending(&pending) == 0);
  say("pending: %d\n", sigismember(&pending, SIGSEGV));
  struct timespec limit = {10, 0};
  CHECK(sigtimedwait(&set, NULL, &limit) == SIGSEGV);

  pid_t pid = fork_checked();
  if (pid == 0) {
    unblocked("lives");
    _exit(1);
  }
  int status;
  CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
  say("died of: %s\n", strsignal(WTERMSIG(status)));
  on_signal_flags(SIGSEGV, handle, 0);
  unblocked("to be handled");
  return 0;
}

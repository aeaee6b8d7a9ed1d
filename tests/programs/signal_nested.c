// Handlers inside handlers: masks of sigaction, SA_NODEFER, SA_RESETHAND, in the order they ran.
// e2e: stable
#include "common.h"

static int depth;
static void first(int sig) {
  depth++;
  say("%*senter %s\n", depth * 2, "", strsignal(sig));
  if (sig != SIGTERM) raise(sig == SIGUSR1 ? SIGUSR2 : SIGTERM);
  say("%*sleave %s\n", depth * 2, "", strsignal(sig));
  depth--;
}
static void again(int sig) {
  depth++;
  say("%*sagain %d\n", depth * 2, "", sig == SIGUSR1);
  if (depth < 4) raise(SIGUSR1);
  depth--;
}

int main(void) {
  on_signal_flags(SIGUSR1, first, 0);
  on_signal_flags(SIGUSR2, first, 0);
  on_signal_flags(SIGTERM, first, 0);
  raise(SIGUSR1);
  struct sigaction action = {.sa_handler = first};
  sigfillset(&action.sa_mask);
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  say("all blocked in the handler:\n");
  raise(SIGUSR1);
  say("not deferred:\n");
  on_signal_flags(SIGUSR1, again, SA_NODEFER);
  raise(SIGUSR1);
  on_signal_flags(SIGUSR1, again, SA_RESETHAND);
  CHECK(depth == 0);
  depth = 4;
  raise(SIGUSR1);
  CHECK(sigaction(SIGUSR1, NULL, &action) == 0);
  say("reset: %d\n", action.sa_handler == SIG_DFL);
  return 0;
}

// makecontext and swapcontext: coroutines on stacks of their own, with a handler taken on one of them.
// e2e: stable
#include <ucontext.h>

#include "common.h"

static ucontext_t main_context, contexts[2];
static char stacks[2][65536];

static void take(int sig) { say("  handler of %s\n", strsignal(sig)); }
static void body(int me) {
  for (int i = 0; i < 3; i++) {
    say(" coroutine %d step %d\n", me, i);
    if (i == me) raise(SIGUSR1);
    swapcontext(&contexts[me], &main_context);
  }
}

int main(void) {
  on_signal_flags(SIGUSR1, take, 0);
  for (int i = 0; i < 2; i++) {
    CHECK(getcontext(&contexts[i]) == 0);
    contexts[i].uc_stack.ss_sp = stacks[i];
    contexts[i].uc_stack.ss_size = sizeof stacks[i];
    contexts[i].uc_link = &main_context;
    makecontext(&contexts[i], (void (*)(void))body, 1, i);
  }
  for (int i = 0; i < 8; i++) CHECK(swapcontext(&main_context, &contexts[i % 2]) == 0);
  say("done\n");
  return 0;
}

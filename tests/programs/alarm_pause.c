// alarm: one second waited for in pause, a replaced alarm and what was left of it.
// e2e: stable
#include "common.h"

static volatile sig_atomic_t rang;
static void ring(int sig) { rang = sig; }

int main(void) {
  on_signal_flags(SIGALRM, ring, 0);
  say("none before: %u\n", alarm(100));
  say("replaced: %u\n", alarm(1));
  CHECK(pause() < 0);
  say("%s, rang %d\n", strerror(errno), rang == SIGALRM);
  say("none left: %u\n", alarm(0));
  return 0;
}

// SIGURG for threads that compute, as Go's scheduler preempts its own: none of them is lost.
// e2e: varies
#include <pthread.h>

#include "common.h"

static volatile int taken[2];
static volatile unsigned long computed[2];
static __thread volatile int me;
static void take(int sig) {
  (void)sig;
  taken[me]++;
}

static void* compute(void* argument) {
  me = (int)(intptr_t)argument;
  for (unsigned long x = 1;; x = x * 6364136223846793005ul + 1) computed[me] = x;
  return NULL;
}

int main(void) {
  struct sigaction action = {.sa_handler = take, .sa_flags = SA_RESTART};
  CHECK(sigaction(SIGURG, &action, NULL) == 0);
  pthread_t threads[2];
  for (intptr_t i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, compute, (void*)i) == 0);
  while (!computed[0] || !computed[1]) sleep_ms(1);  // they know who they are
  for (int round = 1; round <= 10; round++) {
    for (int i = 0; i < 2; i++) CHECK(pthread_kill(threads[i], SIGURG) == 0);
    while (taken[0] != round || taken[1] != round) sleep_ms(1);
    say("round %d: %lx %lx\n", round, computed[0], computed[1]);
  }
  return 0;
}

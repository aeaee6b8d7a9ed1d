// Threads compute in a loop of a few short instructions, and are interrupted there again and again, now at one and now at the next.
// e2e: stable
#include <pthread.h>

#include "common.h"

static unsigned long results[4];

__attribute__((optimize("O2"), noinline)) static unsigned long scramble(unsigned long x, long turns) {
  for (long i = 0; i < turns; i++) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
  }
  return x;
}

static void* compute(void* number) {
  results[(long)number] = scramble((unsigned long)number + 1, 120000000);
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  for (long i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, compute, (void*)i) == 0);
  for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  for (int i = 0; i < 4; i++) say("%lx\n", results[i]);
  return 0;
}

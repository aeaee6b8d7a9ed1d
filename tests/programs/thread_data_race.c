// A data race on purpose: four threads add to a counter without a lock; the sum shows what was lost.
// e2e: varies
#include <pthread.h>
#include <sched.h>

#include "common.h"

static volatile long counter;

static void* add(void* arg) {
  for (int i = 0; i < 3000; i++) {
    long v = counter;
    if ((i + (long)arg) % 64 == 0) sched_yield();
    counter = v + 1;
  }
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  for (long i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, add, (void*)i) == 0);
  for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(counter >= 2 && counter <= 12000);  // a late write can undo nearly everything
  say("sum %ld of 12000\n", counter);
  return 0;
}

// A data race without any call in the loop: a million plain increments per thread.
// e2e: varies
#include <pthread.h>

#include "common.h"

static volatile long counter;
static pthread_barrier_t start;

static void* add(void* arg) {
  (void)arg;
  pthread_barrier_wait(&start);
  for (int i = 0; i < 1000000; i++) counter++;
  return NULL;
}

int main(void) {
  CHECK(pthread_barrier_init(&start, NULL, 3) == 0);
  pthread_t threads[3];
  for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, add, NULL) == 0);
  for (int i = 0; i < 3; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  say("sum %ld of 3000000\n", counter);
  return 0;
}

// Threads: created, their ids shown, joined with results, attributes of their stacks.
// e2e: varies
#include <pthread.h>

#include "common.h"

static void* work(void* arg) {
  long n = (long)arg, sum = 0;
  for (long i = 1; i <= n * 1000; i++) sum += i;
  say("thread %ld: tid %d, pid %d, self %lx, local %p\n", n, gettid(), getpid(), pthread_self(), (void*)&sum);
  return (void*)sum;
}

int main(void) {
  pthread_t threads[5];
  pthread_attr_t attributes;
  CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, 128 * 1024) == 0);
  for (long i = 0; i < 5; i++)
    CHECK(pthread_create(&threads[i], i % 2 ? &attributes : NULL, work, (void*)i) == 0);
  for (int i = 4; i >= 0; i--) {
    void* result;
    CHECK(pthread_join(threads[i], &result) == 0);
    say("joined %d: %ld\n", i, (long)result);
  }
  return 0;
}

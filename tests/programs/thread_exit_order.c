// Threads end in the order they happen to; the main thread goes first, the last one ends the process.
// e2e: varies
#include <pthread.h>

#include "common.h"

static int left = 5;

static void* work(void* arg) {
  usleep((useconds_t)(100 * (5 - (long)arg)));
  int now = __atomic_sub_fetch(&left, 1, __ATOMIC_SEQ_CST);
  say("thread %ld ends, %d left\n", (long)arg, now);
  return NULL;
}

int main(void) {
  for (long i = 0; i < 5; i++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, work, (void*)i) == 0);
    CHECK(pthread_detach(thread) == 0);
  }
  say("main ends\n");
  pthread_exit(NULL);
}

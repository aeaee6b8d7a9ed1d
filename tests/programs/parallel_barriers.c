// Barriers for fewer threads than use them: who meets whom is a race; and one that is destroyed at once.
// e2e: varies parallel
#include <pthread.h>

#include "common.h"

enum { kThreads = 6, kRounds = 200 };

static pthread_barrier_t pairs, round_end, all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long hash;
static int serial;

static void note(unsigned what) {
  pthread_mutex_lock(&lock);
  hash = hash * 31 + what;
  pthread_mutex_unlock(&lock);
}

static void* body(void* arg) {
  unsigned me = (unsigned)(long)arg;
  for (unsigned i = 0; i < kRounds; i++) {
    int result = pthread_barrier_wait(&pairs);
    note(me * 2 + (result == PTHREAD_BARRIER_SERIAL_THREAD));
    pthread_barrier_wait(&round_end);
  }
  if (pthread_barrier_wait(&all) == PTHREAD_BARRIER_SERIAL_THREAD) {
    CHECK(pthread_barrier_destroy(&all) == 0);
    memset(&all, 0xff, sizeof all);
    note(1000 + me);
    __atomic_add_fetch(&serial, 1, __ATOMIC_SEQ_CST);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  CHECK(pthread_barrier_init(&pairs, NULL, 2) == 0 && pthread_barrier_init(&round_end, NULL, kThreads) == 0);
  CHECK(pthread_barrier_init(&all, NULL, kThreads) == 0);
  for (long i = 0; i < kThreads; i++) CHECK(pthread_create(&threads[i], NULL, body, (void*)i) == 0);
  for (int i = 0; i < kThreads; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(pthread_barrier_destroy(&pairs) == 0 && pthread_barrier_destroy(&round_end) == 0);
  say("%lx, %d\n", hash, serial);
  return 0;
}

// Condition variables: a bounded buffer, two producers and two consumers, a broadcast, a timed wait.
// e2e: varies parallel
#include <pthread.h>

#include "common.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static int buffer[4], used, finished;
static long taken[2];
static uint32_t which[2] = {HASH_START, HASH_START};

static void* produce(void* arg) {
  for (int i = 0; i < 60; i++) {
    pthread_mutex_lock(&lock);
    while (used == 4) pthread_cond_wait(&not_full, &lock);
    buffer[used++] = (int)(long)arg * 1000 + i;
    pthread_cond_signal(&not_empty);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}
static void* consume(void* arg) {
  long me = (long)arg;
  pthread_mutex_lock(&lock);
  for (;;) {
    while (used == 0 && !finished) pthread_cond_wait(&not_empty, &lock);
    if (used == 0) break;
    int item = buffer[--used];
    which[me] = hash_bytes(which[me], &item, sizeof item);
    taken[me]++;
    pthread_cond_signal(&not_full);
  }
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t producers[2], consumers[2];
  for (long i = 0; i < 2; i++) {
    CHECK(pthread_create(&consumers[i], NULL, consume, (void*)i) == 0);
    CHECK(pthread_create(&producers[i], NULL, produce, (void*)i) == 0);
  }
  for (int i = 0; i < 2; i++) CHECK(pthread_join(producers[i], NULL) == 0);
  pthread_mutex_lock(&lock);
  finished = 1;
  pthread_cond_broadcast(&not_empty);
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < 2; i++) {
    CHECK(pthread_join(consumers[i], NULL) == 0);
    say("consumer %d: %ld items, %08x\n", i, taken[i], which[i]);
  }
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  pthread_mutex_lock(&lock);
  say("timed wait: %s\n", strerror(pthread_cond_timedwait(&not_empty, &lock, &until)));
  CHECK(taken[0] + taken[1] == 120);
  return 0;
}

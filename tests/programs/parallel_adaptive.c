// Threads that hand a token round by a condition variable, with an adaptive mutex that is held for a while: who is woken finds it taken.
// e2e: varies parallel
#include "common.h"

#include <pthread.h>

enum { kThreads = 4, kRounds = 300 };

static pthread_mutex_t lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int count, order[kThreads * kRounds];

static void *take(void *argument) {
  for (int i = 0; i < kRounds; ++i) {
    pthread_mutex_lock(&lock);
    int seen = count;
    order[count++] = (int)(long)argument;
    pthread_cond_broadcast(&changed);
    for (volatile int work = 0; work < 2000; ++work) {}
    while (count == seen + 1 && count < kThreads * kRounds - kRounds) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, take, (void *)i);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  unsigned hash = 0;
  for (int i = 0; i < count; ++i) hash = hash * 31 + (unsigned)order[i];
  printf("%d in order %08x\n", count, hash);
  return 0;
}

// Four threads take a few locks without end, and say now and then what they found: for being killed at any moment.
// e2e: helper
#include <pthread.h>

#include "common.h"

enum { kThreads = 4 };

static pthread_mutex_t locks[8];
static unsigned long values[8];
static int count;

static void* work(void* arg) {
  unsigned long me = (unsigned long)arg, random = me * 7919;
  for (int i = 1;; i++) {
    random = random * 6364136223846793005ul + 1442695040888963407ul;
    int k = (int)((random >> 33) % (unsigned)count);
    pthread_mutex_lock(&locks[k]);
    values[k] = values[k] * 31 + me;
    if (i % 2000 == 0) say("%lu at %d: %016lx\n", me, k, values[k]);
    pthread_mutex_unlock(&locks[k]);
  }
  return NULL;
}

int main(int argc, char** argv) {
  count = argc > 1 ? atoi(argv[1]) : 1;
  for (int i = 0; i < 8; i++) pthread_mutex_init(&locks[i], NULL);
  pthread_t threads[kThreads];
  for (long i = 1; i < kThreads; i++) CHECK(pthread_create(&threads[i], NULL, work, (void*)i) == 0);
  work((void*)(long)kThreads);
}

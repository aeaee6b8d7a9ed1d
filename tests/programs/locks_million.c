// Eight threads take a million locks in all, of 1, 64 and 4,096: what they leave depends on the order.
// e2e: varies parallel
#include <pthread.h>

#include "common.h"

enum { kThreads = 8, kOperations = 42000, kMost = 4096 };

static pthread_mutex_t locks[kMost];
static unsigned long values[kMost];
static int count;

static void* work(void* arg) {
  unsigned long me = (unsigned long)arg, random = me * 7919, seen = 0;
  for (int i = 0; i < kOperations; i++) {
    random = random * 6364136223846793005ul + 1442695040888963407ul;
    int k = (int)((random >> 33) % (unsigned)count);
    pthread_mutex_lock(&locks[k]);
    values[k] = values[k] * 31 + me;
    seen ^= values[k];
    pthread_mutex_unlock(&locks[k]);
  }
  return (void*)seen;
}

int main(void) {
  int counts[] = {1, 64, kMost};
  for (int c = 0; c < 3; c++) {
    count = counts[c];
    pthread_t threads[kThreads];
    unsigned long hash = 0;
    for (long i = 0; i < kThreads; i++) CHECK(pthread_create(&threads[i], NULL, work, (void*)(i + 1)) == 0);
    for (int i = 0; i < kThreads; i++) {
      void* seen;
      CHECK(pthread_join(threads[i], &seen) == 0);
      hash = hash * 17 + (unsigned long)seen;
    }
    for (int i = 0; i < kMost; i++) hash = hash * 13 + values[i];
    say("%d locks: %016lx\n", count, hash);
  }
  return 0;
}

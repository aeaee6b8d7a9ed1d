// Sixty-four threads at once, then sixty-four more: sums, and the order in which they came.
// e2e: varies
#include <pthread.h>

#include "common.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t order = HASH_START;
static long sum;

static void* work(void* arg) {
  long n = (long)arg;
  char* block = malloc((size_t)(n + 1) * 100);
  memset(block, (int)n, (size_t)(n + 1) * 100);
  pthread_mutex_lock(&lock);
  order = hash_bytes(order, &n, sizeof n);
  sum += block[n];
  pthread_mutex_unlock(&lock);
  free(block);
  return NULL;
}

int main(void) {
  for (int round = 0; round < 2; round++) {
    pthread_t threads[64];
    for (long i = 0; i < 64; i++) CHECK(pthread_create(&threads[i], NULL, work, (void*)i) == 0);
    for (int i = 0; i < 64; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    say("sum %ld, order %08x\n", sum, order);
  }
  CHECK(sum == 4032);
  return 0;
}

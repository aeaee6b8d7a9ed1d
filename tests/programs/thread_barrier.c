// A barrier passed ten times by four threads; who was its serial thread each time.
// e2e: varies parallel
#include <pthread.h>

#include "common.h"

static pthread_barrier_t barrier;
static char serial[11];
static long values[4];

static void* work(void* arg) {
  long me = (long)arg;
  for (int round = 0; round < 10; round++) {
    values[me] += me + round;
    if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) serial[round] = (char)('a' + me);
    long sum = values[0] + values[1] + values[2] + values[3];
    CHECK(sum == 6 * (round + 1) + 4 * (round * (round + 1) / 2));
    pthread_barrier_wait(&barrier);
  }
  return NULL;
}

int main(void) {
  CHECK(pthread_barrier_init(&barrier, NULL, 4) == 0);
  pthread_t threads[4];
  for (long i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, work, (void*)i) == 0);
  for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  say("serial threads: %s\n", serial);
  return 0;
}

// Spinlocks without any call: a test-and-set lock of the program's own and pthread_spin_lock.
// e2e: varies
#include <pthread.h>
#include <stdatomic.h>

#include "common.h"

static atomic_flag own = ATOMIC_FLAG_INIT;
static pthread_spinlock_t posix_lock;
static long sums[2];
static char order[64];
static pthread_barrier_t start;

static void* work(void* arg) {
  pthread_barrier_wait(&start);
  for (int i = 0; i < 2000; i++) {
    while (atomic_flag_test_and_set_explicit(&own, memory_order_acquire)) {
    }
    if (sums[0] % 100 == 0) order[sums[0] / 100] = (char)('a' + (long)arg);
    sums[0]++;
    atomic_flag_clear_explicit(&own, memory_order_release);
    pthread_spin_lock(&posix_lock);
    sums[1]++;
    pthread_spin_unlock(&posix_lock);
  }
  return NULL;
}

int main(void) {
  CHECK(pthread_spin_init(&posix_lock, 0) == 0 && pthread_barrier_init(&start, NULL, 3) == 0);
  pthread_t threads[3];
  for (long i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, work, (void*)i) == 0);
  for (int i = 0; i < 3; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  say("sums %ld %ld, who had each hundredth: %s\n", sums[0], sums[1], order);
  CHECK(sums[0] == 6000 && sums[1] == 6000);
  return 0;
}

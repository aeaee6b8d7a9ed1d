// RLIMIT_AS leaves room for a few threads only: the same one fails again.
// e2e: varies parallel
#include <pthread.h>
#include <sys/resource.h>

#include "common.h"

enum { kMost = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void* run(void* unused) {
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  return unused;
}

int main(void) {
  struct rlimit limit = {150 << 20, RLIM_INFINITY};
  CHECK(setrlimit(RLIMIT_AS, &limit) == 0);
  for (int round = 0; round < 2; round++) {
    pthread_t threads[kMost];
    int count = 0, error = 0;
    pthread_mutex_lock(&lock);
    while (count < kMost && (error = pthread_create(&threads[count], NULL, run, NULL)) == 0) count++;
    pthread_mutex_unlock(&lock);
    CHECK(error == EAGAIN && count > 3);
    for (int i = 0; i < count; i++) CHECK(pthread_join(threads[i], NULL) == 0);
    say("%d threads\n", count);
  }
  return 0;
}

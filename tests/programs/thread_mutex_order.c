// A contended mutex: the order in which four threads got it, with trylock and timedlock among them.
// e2e: varies parallel
#include <pthread.h>

#include "common.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char order[1000];
static int length, busy;

static void* work(void* arg) {
  for (int i = 0; i < 50; i++) {
    if (i % 5 == 3 && pthread_mutex_trylock(&lock) != 0) {
      __atomic_add_fetch(&busy, 1, __ATOMIC_RELAXED);
      pthread_mutex_lock(&lock);
    } else if (i % 5 == 4) {
      struct timespec until;
      clock_gettime(CLOCK_REALTIME, &until);
      until.tv_sec += 10;
      CHECK(pthread_mutex_timedlock(&lock, &until) == 0);
    } else if (i % 5 != 3) {
      pthread_mutex_lock(&lock);
    }
    order[length++] = (char)('a' + (long)arg);
    if (i % 7 == 0) usleep(20);
    pthread_mutex_unlock(&lock);
    if (i % 3 == 0) usleep(10);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[4];
  for (long i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, work, (void*)i) == 0);
  for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(length == 200);
  say("%s\nbusy %d\n", order, busy);
  return 0;
}

// Locks that are taken while there is one thread, and given back when there are two.
// e2e: parallel
#include <pthread.h>

#include "common.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static int seen;

static void* work(void* unused) {
  CHECK(pthread_mutex_lock(&mutex) == 0);
  CHECK(getppid() > 0);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  CHECK(pthread_rwlock_rdlock(&rwlock) == 0);
  CHECK(getppid() > 0);
  CHECK(pthread_rwlock_unlock(&rwlock) == 0);
  CHECK(pthread_spin_lock(&spin) == 0);
  seen++;
  CHECK(getppid() > 0);
  CHECK(pthread_spin_unlock(&spin) == 0);
  return unused;
}

int main(void) {
  pthread_t thread;
  CHECK(pthread_spin_init(&spin, 0) == 0);
  CHECK(pthread_mutex_lock(&mutex) == 0 && pthread_rwlock_wrlock(&rwlock) == 0 && pthread_spin_lock(&spin) == 0);
  CHECK(pthread_create(&thread, NULL, work, NULL) == 0);
  CHECK(pthread_mutex_unlock(&mutex) == 0);
  CHECK(getppid() > 0);
  CHECK(pthread_rwlock_unlock(&rwlock) == 0);
  CHECK(getppid() > 0);
  CHECK(pthread_spin_unlock(&spin) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  say("seen %d\n", seen);
  return 0;
}

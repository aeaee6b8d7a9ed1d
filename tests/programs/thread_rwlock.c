// A read-write lock: three readers, two writers, the versions each reader saw.
// e2e: varies parallel
#include <pthread.h>

#include "common.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int version, copy;
static uint32_t seen[3] = {HASH_START, HASH_START, HASH_START};

static void* reader(void* arg) {
  for (int i = 0; i < 60; i++) {
    CHECK(pthread_rwlock_rdlock(&lock) == 0);
    CHECK(version == copy);
    seen[(long)arg] = hash_bytes(seen[(long)arg], &version, sizeof version);
    pthread_rwlock_unlock(&lock);
    if (i % 6 == 0) usleep(20);
  }
  return NULL;
}
static void* writer(void* arg) {
  (void)arg;
  for (int i = 0; i < 30; i++) {
    CHECK(pthread_rwlock_wrlock(&lock) == 0);
    version++;
    if (i % 10 == 0) usleep(20);
    copy++;
    pthread_rwlock_unlock(&lock);
    if (i % 4 == 0) usleep(20);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[5];
  // As long as there is one thread, libc alone keeps the lock's state.
  CHECK(pthread_rwlock_wrlock(&lock) == 0 && pthread_rwlock_unlock(&lock) == 0);
  for (long i = 0; i < 5; i++)
    CHECK(pthread_create(&threads[i], NULL, i < 3 ? reader : writer, (void*)i) == 0);
  for (int i = 0; i < 5; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(pthread_rwlock_wrlock(&lock) == 0 && pthread_rwlock_unlock(&lock) == 0);
  say("version %d, seen %08x %08x %08x\n", version, seen[0], seen[1], seen[2]);
  CHECK(version == 60);
  return 0;
}

// More detached threads, one after the other and each by the one before, than there are stacks: these are used again.
// e2e: varies parallel
#include <pthread.h>
#include <semaphore.h>

#include "common.h"

enum { kThreads = 3000, kChain = 700 };

static sem_t done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long hash;

static void note(const void* address) {
  pthread_mutex_lock(&lock);
  hash = hash * 31 + (unsigned long)address;
  pthread_mutex_unlock(&lock);
}

static void* once(void* arg) {
  note(&arg);
  sem_post(&done);
  return NULL;
}

static void* next(void* arg) {
  long left = (long)arg;
  CHECK(pthread_detach(pthread_self()) == 0);
  note(&left);
  pthread_t thread;
  if (left > 0) CHECK(pthread_create(&thread, NULL, next, (void*)(left - 1)) == 0);
  else sem_post(&done);
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_attr_t detached;
  CHECK(sem_init(&done, 0, 0) == 0 && pthread_attr_init(&detached) == 0);
  CHECK(pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED) == 0);
  for (int i = 0; i < kThreads; i++) {
    CHECK(pthread_create(&thread, i % 2 ? &detached : NULL, once, NULL) == 0);
    if (i % 2 == 0) CHECK(pthread_detach(thread) == 0);
    sem_wait(&done);
  }
  CHECK(pthread_create(&thread, NULL, next, (void*)(long)kChain) == 0);
  sem_wait(&done);
  say("%lx\n", hash);
  return 0;
}

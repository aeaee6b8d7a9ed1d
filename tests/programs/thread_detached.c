// Detached threads that the main thread waits for by a counter only.
// e2e: varies
#include <pthread.h>

#include "common.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ended;

static void* work(void* arg) {
  pthread_mutex_lock(&lock);
  say("detached %ld is number %d\n", (long)arg, ++ended);
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  CHECK(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0);
  for (long i = 0; i < 8; i++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, i % 2 ? &attributes : NULL, work, (void*)i) == 0);
    if (i % 2 == 0) CHECK(pthread_detach(thread) == 0);
  }
  pthread_mutex_lock(&lock);
  while (ended < 8) pthread_cond_wait(&changed, &lock);
  say("all ended\n");
  return 0;
}

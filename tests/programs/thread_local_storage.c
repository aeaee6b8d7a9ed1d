// Thread-local variables, pthread keys with destructors, and pthread_once.
// e2e: stable
#include <pthread.h>

#include "common.h"

static __thread long mine = 100;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int initialised, destroyed;

static void initialise(void) { initialised++; }
static void destroy(void* value) { destroyed += (int)(long)value; }
static void* work(void* arg) {
  pthread_once(&once, initialise);
  CHECK(pthread_getspecific(key) == NULL && pthread_setspecific(key, arg) == 0);
  for (int i = 0; i < 1000; i++) mine += (long)arg;
  return (void*)mine;
}

int main(void) {
  CHECK(pthread_key_create(&key, destroy) == 0);
  for (long i = 1; i <= 4; i++) {
    pthread_t thread;
    void* result;
    CHECK(pthread_create(&thread, NULL, work, (void*)i) == 0 && pthread_join(thread, &result) == 0);
    say("thread %ld: %ld\n", i, (long)result);
  }
  say("main %ld, initialised %d, destroyed %d\n", mine, initialised, destroyed);
  return 0;
}

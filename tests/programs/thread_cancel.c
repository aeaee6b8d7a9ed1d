// pthread_cancel: in a read, a condition wait, a sleep, disabled, and asynchronous in a loop.
// e2e: stable parallel
#include <pthread.h>

#include "common.h"

static int ends[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;

static void cleanup(void* arg) { say("  cleanup %s\n", (const char*)arg); }
static void unlock(void* arg) { pthread_mutex_unlock(arg); }
static void* body(void* arg) {
  long way = (long)arg;
  pthread_cleanup_push(cleanup, "outer");
  if (way == 0) {
    char byte;
    CHECK(read(ends[0], &byte, 1) == 1);
  } else if (way == 1) {
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock, &lock);
    for (;;) pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(0);
  } else if (way == 2) {
    sleep(1000);
  } else if (way == 3) {
    char byte;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    CHECK(read(ends[0], &byte, 1) == 1);  // comes when it has been cancelled
    say("  disabled: still here\n");
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    pthread_testcancel();
  } else {
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    volatile unsigned long spin = 0;
    for (;;) spin++;
  }
  pthread_cleanup_pop(0);
  return NULL;
}

int main(void) {
  CHECK(pipe(ends) == 0);
  for (long way = 0; way < 5; way++) {
    pthread_t thread;
    void* result;
    CHECK(pthread_create(&thread, NULL, body, (void*)way) == 0);
    sleep_ms(5);
    CHECK(pthread_cancel(thread) == 0);
    if (way == 3) CHECK(write(ends[1], "", 1) == 1);
    CHECK(pthread_join(thread, &result) == 0);
    say("way %ld: cancelled %d\n", way, result == PTHREAD_CANCELED);
  }
  CHECK(pthread_mutex_lock(&lock) == 0);
  say("the mutex is free\n");
  return 0;
}

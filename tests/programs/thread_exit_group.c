// exit while other threads block, compute and hold a lock: the process ends with that status at once.
// e2e: stable exit=21
#include <pthread.h>

#include "common.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int ends[2];

static void* block_in_read(void* arg) {
  (void)arg;
  char byte;
  CHECK(read(ends[0], &byte, 1) == 1);
  return NULL;
}
static void* compute(void* arg) {
  (void)arg;
  volatile unsigned long spin = 0;
  for (;;) spin++;
  return NULL;
}
static void* block_in_lock(void* arg) {
  (void)arg;
  pthread_mutex_lock(&lock);
  return NULL;
}

int main(void) {
  CHECK(pipe(ends) == 0 && pthread_mutex_lock(&lock) == 0);
  void* (*bodies[])(void*) = {block_in_read, block_in_lock, compute};
  for (int i = 0; i < 3; i++) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, bodies[i], NULL) == 0);
  }
  sleep_ms(10);
  say("leaving\n");
  exit(21);
}

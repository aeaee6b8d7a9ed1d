// Threads of an interpreter with a lock sleep while they have a semaphore, and are done in the time that takes.
// e2e: stable
#include <pthread.h>
#include <semaphore.h>

#include "common.h"

static sem_t one;
static pthread_mutex_t interpreter = PTHREAD_MUTEX_INITIALIZER;
static int entered;

static void* work(void* arg) {
  pthread_mutex_lock(&interpreter);
  for (int i = 0; i < 500; i++) {
    if (sem_trywait(&one) != 0) {
      pthread_mutex_unlock(&interpreter);
      CHECK(sem_wait(&one) == 0);
      pthread_mutex_lock(&interpreter);
    }
    entered++;
    pthread_mutex_unlock(&interpreter);
    usleep(100);
    pthread_mutex_lock(&interpreter);
    CHECK(sem_post(&one) == 0);
  }
  pthread_mutex_unlock(&interpreter);
  return arg;
}

int main(void) {
  CHECK(sem_init(&one, 0, 1) == 0);
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) CHECK(pthread_create(&threads[i], NULL, work, NULL) == 0);
  for (int i = 0; i < 4; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  clock_gettime(CLOCK_MONOTONIC, &end);
  CHECK(end.tv_sec - begin.tv_sec < 10);
  say("entered %d times\n", entered);
  return 0;
}

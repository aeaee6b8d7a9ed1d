// Semaphores: a pool of two slots for six threads, the order of entry, sem_trywait and sem_timedwait.
// e2e: varies parallel
#include <pthread.h>
#include <semaphore.h>

#include "common.h"

static sem_t slots;
static int inside, most;
static char order[100];
static int length;

static void* work(void* arg) {
  for (int i = 0; i < 10; i++) {
    CHECK(sem_wait(&slots) == 0);
    int now = __atomic_add_fetch(&inside, 1, __ATOMIC_SEQ_CST);
    if (now > most) most = now;
    order[__atomic_fetch_add(&length, 1, __ATOMIC_SEQ_CST)] = (char)('a' + (long)arg);
    if (i % 4 == 0) usleep(30);
    __atomic_sub_fetch(&inside, 1, __ATOMIC_SEQ_CST);
    CHECK(sem_post(&slots) == 0);
  }
  return NULL;
}

int main(void) {
  CHECK(sem_init(&slots, 0, 2) == 0);
  pthread_t threads[6];
  for (long i = 0; i < 6; i++) CHECK(pthread_create(&threads[i], NULL, work, (void*)i) == 0);
  for (int i = 0; i < 6; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(length == 60 && most <= 2);
  say("%s, at most %d inside\n", order, most);
  CHECK(sem_wait(&slots) == 0 && sem_trywait(&slots) == 0 && sem_trywait(&slots) < 0);
  say("try: %s\n", strerror(errno));
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  CHECK(sem_timedwait(&slots, &until) < 0);
  say("timed: %s\n", strerror(errno));
  return 0;
}

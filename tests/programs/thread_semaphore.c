// Semaphores: a pool of two slots for six threads, the order of entry, which another one keeps, sem_trywait and sem_timedwait.
// e2e: varies parallel
#include <pthread.h>
#include <semaphore.h>

#include "common.h"

static sem_t slots, one;
static int inside, most;
static char order[100];
static int length;

static void enter(char name) {
  CHECK(sem_wait(&one) == 0);
  if (++inside > most) most = inside;
  order[length++] = name;
  CHECK(sem_post(&one) == 0);
}

static void leave(void) {
  CHECK(sem_wait(&one) == 0);
  inside--;
  CHECK(sem_post(&one) == 0);
}

static void* work(void* arg) {
  for (int i = 0; i < 10; i++) {
    CHECK(sem_wait(&slots) == 0);
    enter((char)('a' + (long)arg));
    if (i % 4 == 0) usleep(30);
    leave();
    CHECK(sem_post(&slots) == 0);
  }
  return NULL;
}

int main(void) {
  CHECK(sem_init(&slots, 0, 2) == 0 && sem_init(&one, 0, 1) == 0);
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

// Threads that hand data to each other by eventfd and by System V semaphores alone: who takes finds what was written before it was given.
// e2e: varies parallel
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/sem.h>

#include "common.h"

enum { kRounds = 150, kPause = 5000 };
static int given, taken, semaphores;
static unsigned data;

static void compute(void) {
  for (volatile int i = 0; i < kPause; i++) {
  }
}

static void change(unsigned short number, short by) {
  struct sembuf operation = {.sem_num = number, .sem_op = by};
  CHECK(semop(semaphores, &operation, 1) == 0);
}

static void* give(void* unused) {
  eventfd_t value;
  for (unsigned i = 1; i <= kRounds; i++) {
    compute();
    data = 7 * i;
    CHECK(eventfd_write(given, 1) == 0);
    CHECK(eventfd_read(taken, &value) == 0);
    compute();
    data = 11 * i;
    change(0, 1);
    change(1, -1);
  }
  return unused;
}

int main(void) {
  given = eventfd(0, 0);
  taken = eventfd(0, 0);
  semaphores = semget(IPC_PRIVATE, 2, 0600);
  CHECK(given >= 0 && taken >= 0 && semaphores >= 0);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, give, NULL) == 0);
  unsigned seen = 0, expected = 0;
  for (unsigned i = 1; i <= kRounds; i++) {
    eventfd_t value;
    CHECK(eventfd_read(given, &value) == 0);
    seen = seen * 31 + data;
    CHECK(eventfd_write(taken, 1) == 0);
    change(0, -1);
    seen = seen * 31 + data;
    change(1, 1);
    expected = (expected * 31 + 7 * i) * 31 + 11 * i;
  }
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(semctl(semaphores, 0, IPC_RMID) == 0);
  say("%x %x\n", seen, expected);
  return 0;
}

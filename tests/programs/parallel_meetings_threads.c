// Threads of a process that has shared memory give at the same time: to an eventfd, a semaphore, a queue; one waits in such a call for ever.
// e2e: varies parallel
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>

#include "common.h"

enum { kThreads = 3, kGiven = 300, kAll = kThreads * kGiven };
static int event, full, semaphore, queue;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned seen;

static void add(unsigned what) {
  pthread_mutex_lock(&mutex);
  seen = seen * 31 + what;
  pthread_mutex_unlock(&mutex);
}

static void* give(void* me) {
  struct sembuf more = {.sem_op = 1};
  struct {
    long type;
    unsigned from;
  } message = {1, (unsigned)(size_t)me};
  for (int i = 0; i < kGiven; i++) {
    add(message.from);
    CHECK(eventfd_write(event, 1) == 0);
    CHECK(semop(semaphore, &more, 1) == 0);
    CHECK(msgsnd(queue, &message, sizeof message.from, 0) == 0);
  }
  return NULL;
}

static void* wait_for_ever(void* unused) {
  CHECK(eventfd_write(full, 1) == 0);
  return unused;
}

int main(void) {
  CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
  event = eventfd(0, 0);
  full = eventfd(0, 0);
  semaphore = semget(IPC_PRIVATE, 1, 0600);
  queue = msgget(IPC_PRIVATE, 0600);
  CHECK(event >= 0 && full >= 0 && semaphore >= 0 && queue >= 0);
  CHECK(eventfd_write(full, UINT64_MAX - 1) == 0);
  pthread_t threads[kThreads], waiting;
  CHECK(pthread_create(&waiting, NULL, wait_for_ever, NULL) == 0);
  for (size_t i = 0; i < kThreads; i++) CHECK(pthread_create(&threads[i], NULL, give, (void*)(i + 1)) == 0);
  struct sembuf less = {.sem_op = -1};
  struct {
    long type;
    unsigned from;
  } message;
  for (int i = 0; i < kAll; i++) {
    CHECK(semop(semaphore, &less, 1) == 0);
    CHECK(msgrcv(queue, &message, sizeof message.from, 0, 0) == sizeof message.from);
    add(message.from);
  }
  for (eventfd_t value, all = 0; all < kAll; all += value) CHECK(eventfd_read(event, &value) == 0);
  for (size_t i = 0; i < kThreads; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(semctl(semaphore, 0, IPC_RMID) == 0 && msgctl(queue, IPC_RMID, NULL) == 0);
  say("%x\n", seen);
  return 0;
}

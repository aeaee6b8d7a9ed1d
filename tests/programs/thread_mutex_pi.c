// Mutexes with priority inheritance, contended: order of entry, time limits, and an owner that ends while others wait.
// e2e: varies parallel
#include <pthread.h>
#include <time.h>

#include "common.h"

enum { kThreads = 4, kRounds = 1500 };

static pthread_mutex_t mutex, robust;
static uint64_t hash;
static int nothing, timed_out[kThreads];

static void make(pthread_mutex_t* m, int robustness) {
  pthread_mutexattr_t attributes;
  CHECK(pthread_mutexattr_init(&attributes) == 0);
  CHECK(pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT) == 0);
  CHECK(pthread_mutexattr_setrobust(&attributes, robustness) == 0);
  CHECK(pthread_mutex_init(m, &attributes) == 0);
}

static int lock_for_a_while(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += 20000;
  if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, until.tv_sec++;
  return pthread_mutex_timedlock(&mutex, &until);
}

static void* work(void* argument) {
  intptr_t number = (intptr_t)argument;
  for (int i = 0; i < kRounds; i++) {
    int result = i % 10 ? pthread_mutex_lock(&mutex) : lock_for_a_while();
    if (result) {
      CHECK(result == ETIMEDOUT);
      timed_out[number]++;
      continue;
    }
    hash = hash * 31 + (uint64_t)number;
    CHECK(write(nothing, "x", 1) == 1);
    CHECK(pthread_mutex_unlock(&mutex) == 0);
  }
  return NULL;
}

static void* die_with_it(void* unused) {
  (void)unused;
  CHECK(pthread_mutex_lock(&robust) == 0);
  return NULL;
}

static void* take_it_over(void* unused) {
  (void)unused;
  int result = pthread_mutex_lock(&robust);
  CHECK(result == 0 || result == EOWNERDEAD);
  if (result) CHECK(pthread_mutex_consistent(&robust) == 0);
  CHECK(pthread_mutex_unlock(&robust) == 0);
  return (void*)(intptr_t)result;
}

int main(void) {
  pthread_t threads[kThreads];
  nothing = open("/dev/null", O_WRONLY);
  make(&mutex, PTHREAD_MUTEX_STALLED);
  for (intptr_t i = 0; i < kThreads; i++) CHECK(pthread_create(&threads[i], NULL, work, (void*)i) == 0);
  for (int i = 0; i < kThreads; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  say("order %016lx, timed out %d %d %d %d\n", (unsigned long)hash, timed_out[0], timed_out[1], timed_out[2], timed_out[3]);

  make(&robust, PTHREAD_MUTEX_ROBUST);
  CHECK(pthread_create(&threads[0], NULL, die_with_it, NULL) == 0);
  for (int i = 1; i < kThreads; i++) CHECK(pthread_create(&threads[i], NULL, take_it_over, NULL) == 0);
  CHECK(pthread_join(threads[0], NULL) == 0);
  for (int i = 1; i < kThreads; i++) {
    void* result;
    CHECK(pthread_join(threads[i], &result) == 0);
    say("%s\n", result ? "the owner had died" : "nothing unusual");
  }
  return 0;
}

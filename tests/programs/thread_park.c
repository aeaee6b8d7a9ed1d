// Two threads that park and wake each other, at futexes of their own, take no longer for it than their switches do.
// e2e: stable
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>

#include "common.h"

enum { kEmpty, kNotified, kParked = -1 };
static int states[2];

static void futex(int* word, int operation, int value) { syscall(SYS_futex, word, operation, value, NULL); }

static void park(int* state) {
  if (__atomic_fetch_sub(state, 1, __ATOMIC_ACQUIRE) == kNotified) return;
  for (;;) {
    futex(state, FUTEX_WAIT_PRIVATE, kParked);
    int notified = kNotified;
    if (__atomic_compare_exchange_n(state, &notified, kEmpty, 0, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) return;
  }
}

static void unpark(int* state) {
  if (__atomic_exchange_n(state, kNotified, __ATOMIC_RELEASE) == kParked) futex(state, FUTEX_WAKE_PRIVATE, 1);
}

static void* answer(void* rounds) {
  for (long i = 0; i < (long)rounds; i++) {
    park(&states[1]);
    unpark(&states[0]);
  }
  return NULL;
}

int main(void) {
  struct timespec begin, end;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, answer, (void*)1000) == 0);
  for (int i = 0; i < 1000; i++) {
    unpark(&states[1]);
    park(&states[0]);
  }
  CHECK(pthread_join(thread, NULL) == 0);
  clock_gettime(CLOCK_MONOTONIC, &end);
  CHECK(end.tv_sec - begin.tv_sec < 10);
  say("parked and woken\n");
  return 0;
}

// A lock-free queue on C11 atomics: three producers, one consumer, the order of arrival shown.
// e2e: varies
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "common.h"

enum { kSlots = 64, kProducers = 3, kEach = 200 };
static _Atomic long slots[kSlots];
static atomic_long tail;

static void* produce(void* arg) {
  for (long i = 0; i < kEach; i++) {
    long at = atomic_fetch_add(&tail, 1), empty = 0;
    while (!atomic_compare_exchange_weak(&slots[at % kSlots], &empty,
                                         ((long)arg + 1) << 32 | (i + 1) | at << 48)) {
      empty = 0;
      sched_yield();
    }
  }
  return NULL;
}

int main(void) {
  pthread_t threads[kProducers];
  for (long i = 0; i < kProducers; i++) CHECK(pthread_create(&threads[i], NULL, produce, (void*)i) == 0);
  uint32_t order = HASH_START;
  long last[kProducers + 1] = {0}, waits = 0;
  for (long head = 0; head < kProducers * kEach; head++) {
    long item;
    while ((item = atomic_exchange(&slots[head % kSlots], 0)) == 0) {
      if (++waits % 8 == 0) sched_yield();
    }
    long from = item >> 32 & 0xffff;
    last[from]++;
    order = hash_bytes(order, &from, sizeof from);
  }
  for (int i = 0; i < kProducers; i++) CHECK(pthread_join(threads[i], NULL) == 0 && last[i + 1] == kEach);
  say("order %08x, waits %ld\n", order, waits);
  return 0;
}

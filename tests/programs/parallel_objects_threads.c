// Threads read and write named objects without locks: who sees what depends on the order, which the objects keep.
// e2e: varies parallel
#include <pastcone/object.h>
#include <pthread.h>

#include "common.h"

enum { kThreads = 4, kRounds = 4000 };

static struct {
  struct pastcone_object object;
  unsigned value;
} mixed = {PASTCONE_OBJECT("mixed"), 1}, steps = {PASTCONE_OBJECT("steps"), 0};

static pthread_barrier_t start;

static void* work(void* number) {
  unsigned me = (unsigned)(size_t)number, seen = 0;
  pthread_barrier_wait(&start);
  for (unsigned i = 0; i < kRounds; i++) {
    for (volatile int pause = 0; pause < 2000; pause++) {
    }
    if (i % 4 == me % 4) {
      // Not commutative, and only right if nobody comes between: natively a compare and swap takes care of that.
      pastcone_write_begin(&mixed.object);
      unsigned old = __atomic_load_n(&mixed.value, __ATOMIC_RELAXED);
      while (!__atomic_compare_exchange_n(&mixed.value, &old, old * 31 + me, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      }
      pastcone_write_end(&mixed.object);
      pastcone_write_begin(&steps.object);
      pastcone_read_begin(&steps.object);  // inside a write: no access of its own
      __atomic_fetch_add(&steps.value, 1, __ATOMIC_RELAXED);
      pastcone_read_end(&steps.object);
      pastcone_write_end(&steps.object);
    } else {
      pastcone_read_begin(&mixed.object);
      pastcone_read_begin(&mixed.object);
      seen = seen * 17 + __atomic_load_n(&mixed.value, __ATOMIC_RELAXED);
      pastcone_read_end(&mixed.object);
      pastcone_read_end(&mixed.object);
    }
  }
  say("thread %u saw %08x\n", me, seen);
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  CHECK(pthread_barrier_init(&start, NULL, kThreads) == 0);
  for (size_t i = 0; i < kThreads; i++) CHECK(pthread_create(&threads[i], NULL, work, (void*)i) == 0);
  for (int i = 0; i < kThreads; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(steps.value == kThreads * kRounds / 4);
  say("mixed %08x\n", mixed.value);
  return 0;
}

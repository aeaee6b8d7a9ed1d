// C11 threads: mutexes of all kinds, conditions, storage whose destructors use locks, initialisation, ends by thrd_exit.
// e2e: varies parallel
#include <threads.h>

#include "common.h"

enum { kThreads = 4, kTurns = 200 };
static mtx_t plain, recursive, timed;
static cnd_t all_there;
static tss_t key;
static once_flag once = ONCE_FLAG_INIT;
static unsigned order, again, in_time, late, ended;
static int there;

static unsigned add(unsigned hash, size_t what) { return hash * 31 + (unsigned)what; }

static void destroy(void* value) {
  static thread_local int times;
  mtx_lock(&plain);
  ended = add(ended, (size_t)value);
  mtx_unlock(&plain);
  if (times++ == 0) CHECK(tss_set(key, (void*)((size_t)value + 10)) == thrd_success);
}

static struct timespec soon(long ns) {
  struct timespec t;
  CHECK(timespec_get(&t, TIME_UTC) == TIME_UTC);
  t.tv_nsec += ns;
  if (t.tv_nsec >= 1000000000) {
    t.tv_sec++;
    t.tv_nsec -= 1000000000;
  }
  return t;
}

static void initialise(void) { order = 7; }

static void take_turns(size_t me) {
  for (int i = 0; i < kTurns; i++) {
    mtx_lock(&plain);
    order = add(order, me);
    mtx_unlock(&plain);
    mtx_lock(&recursive);
    CHECK(mtx_trylock(&recursive) == thrd_success);
    again = add(again, me);
    mtx_unlock(&recursive);
    mtx_unlock(&recursive);
    struct timespec until = soon(20000);
    if (mtx_timedlock(&timed, &until) == thrd_success) {
      in_time = add(in_time, me);
      if (i % 16 == 0) thrd_yield();
      mtx_unlock(&timed);
    } else {
      mtx_lock(&plain);
      late++;
      mtx_unlock(&plain);
    }
  }
}

static int body(void* arg) {
  size_t me = (size_t)arg;
  call_once(&once, initialise);
  CHECK(tss_set(key, arg) == thrd_success);
  take_turns(me);
  mtx_lock(&plain);
  there++;
  cnd_broadcast(&all_there);
  while (there < kThreads) {
    struct timespec until = soon(100000);
    if (cnd_timedwait(&all_there, &plain, &until) == thrd_timedout) late++;
  }
  mtx_unlock(&plain);
  if (me % 2 != 0) thrd_exit((int)me);
  return (int)me;
}

int main(void) {
  CHECK(mtx_init(&plain, mtx_plain) == thrd_success && mtx_init(&recursive, mtx_plain | mtx_recursive) == thrd_success);
  CHECK(mtx_init(&timed, mtx_timed) == thrd_success && cnd_init(&all_there) == thrd_success);
  CHECK(tss_create(&key, destroy) == thrd_success);
  thrd_t threads[kThreads];
  for (size_t i = 0; i < kThreads; i++) CHECK(thrd_create(&threads[i], body, (void*)(i + 1)) == thrd_success);
  int sum = 0, result;
  for (int i = 0; i < kThreads; i++) {
    CHECK(thrd_join(threads[i], &result) == thrd_success);
    sum += result;
  }
  say("%x %x %x %u %x, %d\n", order, again, in_time, late, ended, sum);
  return 0;
}

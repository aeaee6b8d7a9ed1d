// Threads after the limit of stacks was changed: how large theirs are was settled when the program began, unless it says otherwise.
// e2e: stable parallel
#include <pthread.h>
#include <sys/resource.h>

#include "common.h"

static void* tell(void* unused) {
  (void)unused;
  pthread_attr_t own;
  void* start;
  size_t size, guard;
  pthread_getattr_np(pthread_self(), &own);
  pthread_attr_getstack(&own, &start, &size);
  pthread_attr_getguardsize(&own, &guard);
  pthread_attr_destroy(&own);
  printf("%zu, of which a guard of %zu\n", size, guard);
  return NULL;
}

static void run(const pthread_attr_t* attributes) {
  pthread_t thread;
  CHECK(pthread_create(&thread, attributes, tell, NULL) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
}

int main(void) {
  run(NULL);
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_STACK, &limit) == 0);
  limit.rlim_cur = 1 << 20;
  CHECK(setrlimit(RLIMIT_STACK, &limit) == 0);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  run(NULL);
  run(&attributes);
  pthread_attr_setstacksize(&attributes, 512 << 10);
  CHECK(pthread_setattr_default_np(&attributes) == 0);
  run(NULL);
  return 0;
}

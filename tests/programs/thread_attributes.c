// What a thread is told of its stack: where it is, that it runs on it, and how large the guard below is.
// e2e: stable parallel
#include <pthread.h>

#include "common.h"

static void* body(void* name) {
  pthread_attr_t a;
  void* stack;
  size_t size, guard;
  int here, state;
  CHECK(pthread_getattr_np(pthread_self(), &a) == 0 && pthread_attr_getstack(&a, &stack, &size) == 0);
  CHECK(pthread_attr_getguardsize(&a, &guard) == 0 && pthread_attr_getdetachstate(&a, &state) == 0);
  CHECK((char*)&here >= (char*)stack && (char*)&here < (char*)stack + size);
  say("%s: guard %zu, detached %d\n", (const char*)name, guard, state == PTHREAD_CREATE_DETACHED);
  return NULL;
}

static void run(const pthread_attr_t* a, const char* name) {
  pthread_t thread;
  CHECK(pthread_create(&thread, a, body, (void*)name) == 0 && pthread_join(thread, NULL) == 0);
}

int main(void) {
  static char own[1 << 20] __attribute__((aligned(4096)));
  pthread_attr_t a;
  run(NULL, "default");
  CHECK(pthread_attr_init(&a) == 0);
  run(&a, "initialised");
  CHECK(pthread_attr_setguardsize(&a, 5 * 4096) == 0 && pthread_attr_setstacksize(&a, 1 << 18) == 0);
  run(&a, "larger guard");
  CHECK(pthread_attr_setguardsize(&a, 0) == 0);
  run(&a, "none");
  CHECK(pthread_attr_setguardsize(&a, 4096) == 0 && pthread_attr_setstack(&a, own, sizeof own) == 0);
  run(&a, "own stack");
  return 0;
}

// A thread spins without calls on a volatile flag that another sets: the program must end.
// e2e: stable
#include <pthread.h>

#include "common.h"

static volatile int started, flag;

static void* spin(void* arg) {
  (void)arg;
  started = 1;
  while (!flag) {
  }
  say("saw the flag\n");
  return NULL;
}

int main(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, spin, NULL) == 0);
  while (!started) {
  }
  flag = 1;
  CHECK(pthread_join(thread, NULL) == 0);
  say("both ended\n");
  return 0;
}

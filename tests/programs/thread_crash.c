// A crash in a thread that is not the first, while others wait.
// e2e: stable exit=SIGSEGV
#include <pthread.h>

#include "common.h"

static void* wait_forever(void* arg) {
  (void)arg;
  for (;;) pause();
  return NULL;
}
static void* crash(void* arg) {
  say("thread about to crash\n");
  *(volatile char*)arg = 1;
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  CHECK(pthread_create(&threads[0], NULL, wait_forever, NULL) == 0);
  CHECK(pthread_create(&threads[1], NULL, crash, (void*)24) == 0);
  pthread_join(threads[1], NULL);
  return 0;
}

// A pointer that malloc never gave is freed: said, and the end.
// e2e: stable exit=SIGABRT
#include "parallel_heap.h"

static void* run(void* argument) {
  char* block = malloc(100);
  CHECK(block);
  say("before\n");
  free(block + 8 + (intptr_t)argument);
  say("behind\n");
  return NULL;
}

int main(void) {
  pthread_t thread;
  CHECK(!pthread_create(&thread, NULL, run, NULL));
  CHECK(!pthread_join(thread, NULL));
  return 0;
}

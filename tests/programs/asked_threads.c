// More words than can be watched, written by two threads.
// e2e: helper
#include <pthread.h>
#include <stddef.h>

volatile long parts[6];

static void* run(void* unused) {
  for (int i = 0; i < 6; i++) parts[i] = i;
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  pthread_join(thread, NULL);
  return 0;
}

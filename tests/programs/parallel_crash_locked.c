// A thread takes a lock that another one had, and crashes with it before it has done anything else.
// e2e: stable parallel exit=SIGSEGV
#include <pthread.h>
#include <signal.h>

#include "common.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int found;

static void* add(void* arg) {
  pthread_mutex_lock(&lock);
  found += (int)(long)arg;
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  pthread_t threads[3];
  for (long i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, add, (void*)(i + 1)) == 0);
  for (int i = 0; i < 3; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  say("crashing\n");
  pthread_mutex_lock(&lock);
  if (found == 6) *(volatile int*)8 = 0;
  return 0;
}

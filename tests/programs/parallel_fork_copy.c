// A child is forked while another thread changes memory under a lock that the fork does not take: what it finds is any moment's.
// e2e: varies
#include <pthread.h>

#include "common.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;
static volatile unsigned long count;

static int stopped(void) {
  pthread_mutex_lock(&mutex);
  int result = stop;
  count++;
  pthread_mutex_unlock(&mutex);
  return result;
}

static void* run(void* unused) {
  while (!stopped()) {
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, run, NULL) == 0);
  for (int i = 0; i < 5; i++) {
    pid_t pid = fork();
    if (!pid) {
      say("%lu\n", count);
      _exit(0);
    }
    CHECK(exit_status(pid) == 0);
  }
  pthread_mutex_lock(&mutex);
  stop = 1;
  pthread_mutex_unlock(&mutex);
  CHECK(pthread_join(thread, NULL) == 0);
  return 0;
}

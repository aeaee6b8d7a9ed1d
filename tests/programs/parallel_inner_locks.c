// Threads that fork, ask for random numbers and for the local time at once: libc has locks around that, which it makes calls in.
// e2e: varies parallel
#include <pthread.h>

#include "common.h"

enum { kThreads = 4, kRounds = 12 };

static void* body(void* arg) {
  unsigned long seen = 0;
  for (int i = 0; i < kRounds; i++) {
    for (int k = 0; k < 50; k++) seen = seen * 31 + (unsigned long)random();
    time_t now = 1000000000 + i;
    struct tm parts;
    tzset();
    CHECK(localtime_r(&now, &parts) != NULL);
    seen = seen * 31 + (unsigned long)parts.tm_hour;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) _exit(i);
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    seen = seen * 31 + (unsigned long)status;
  }
  *(unsigned long*)arg = seen;
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  unsigned long seen[kThreads];
  for (int i = 0; i < kThreads; i++) CHECK(pthread_create(&threads[i], NULL, body, &seen[i]) == 0);
  for (int i = 0; i < kThreads; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  for (int i = 0; i < kThreads; i++) say("%lx\n", seen[i]);
  return 0;
}

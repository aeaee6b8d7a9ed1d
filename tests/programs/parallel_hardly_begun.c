// Threads whose process ends when they have hardly begun, or not at all, each at another moment; the second one has done something by then.
// e2e: varies parallel
#include <pthread.h>
#include <sys/wait.h>

#include "common.h"

enum { kChildren = 40 };

static void* sleeps(void* unused) {
  for (;;) pause();
  return unused;
}

static void* tells(void* pipe) {
  CHECK(write(*(int*)pipe, "x", 1) == 1);
  return sleeps(NULL);
}

static void child(int number) {
  pthread_t first, second;
  int told[2];
  char byte;
  CHECK(pipe(told) == 0);
  CHECK(pthread_create(&first, NULL, sleeps, NULL) == 0);
  if (number % 4 == 0) {
    CHECK(pthread_create(&second, NULL, tells, &told[1]) == 0);
    CHECK(read(told[0], &byte, 1) == 1);
  }
  for (volatile int i = 0; i < number * 5000; i++);
  say("%d\n", number);
  _exit(number);
}

int main(void) {
  for (int i = 0; i < kChildren; i++) {
    int status;
    if (fork() == 0) child(i);
    CHECK(wait(&status) > 0 && WEXITSTATUS(status) == i);
  }
  return 0;
}

// A nested function whose address is taken: its trampoline lies on the stack, which has to be executable.
// e2e: stable
#include <pthread.h>
#include <stdio.h>

static int apply(int (*function)(int), int n) { return function(n); }

static void* work(void* unused) {
  int offset = 40;
  int add(int n) { return n + offset; }
  printf("thread %d\n", apply(add, 2));
  return unused;
}

int main(void) {
  int offset = 3;
  int add(int n) { return n + offset; }
  printf("main %d\n", apply(add, 4));
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  pthread_join(thread, 0);
  return apply(add, 0) - 3;
}

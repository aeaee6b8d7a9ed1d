// A thread that has computed for long gives up its turn after a call, says something in memory when it has it again, and waits for ever.
// e2e: varies
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <unistd.h>

static volatile int said;
static volatile unsigned long work;

static void* run(void* unused) {
  for (unsigned long i = 0; i < 40000000; i++) work += i;
  getppid();
  said = 1;
  pause();
  return unused;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  int asked = 0;
  while (!said) {
    sched_yield();
    asked++;
  }
  printf("said after %d, %d\n", asked, getppid() > 0);
  return 0;
}

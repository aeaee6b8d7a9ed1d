// Processes and threads that count, right after each call of getppid(), in memory that others can look at: one counter per thread.
// e2e: varies
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kThreads = 3, kProcesses = 3, kRounds = 12 };

volatile long counters[kThreads];  // by thread of the process
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long shared_sum;
static int ring[kProcesses][2];
static volatile sig_atomic_t signals;

static void step(int thread) {
  syscall(SYS_getppid);
  counters[thread] = counters[thread] + 1;
}

static void on_signal(int number) { signals = signals + number; }

static void* work(void* argument) {
  int thread = (int)(intptr_t)argument;
  for (int i = 0; i < kRounds; ++i) {
    pthread_mutex_lock(&lock);
    shared_sum = shared_sum * 31 + thread;
    step(thread);
    if (i % 3 == 0) usleep(100);
    pthread_mutex_unlock(&lock);
    step(thread);
  }
  return 0;
}

/// Passes a number round the ring, with two other threads at work.
static int member(int number) {
  pthread_t others[kThreads];
  for (int i = 0; i < kThreads; ++i) counters[i] = 0;
  for (int i = 1; i < kThreads; ++i) pthread_create(&others[i], 0, work, (void*)(intptr_t)i);
  long token = 0;
  for (int i = 0; i < kRounds; ++i) {
    step(0);
    if (number || i) {
      if (read(ring[number][0], &token, sizeof token) != sizeof token) return 1;
    }
    step(0);
    token += number + 1;
    if (number == kProcesses - 1 && i == kRounds - 1) break;
    if (write(ring[(number + 1) % kProcesses][1], &token, sizeof token) < 0) return 1;
    step(0);
    if (i % 4 == 0) raise(SIGUSR1);
  }
  for (int i = 1; i < kThreads; ++i) pthread_join(others[i], 0);
  step(0);
  printf("%d: %ld %ld %ld %ld, %ld %ld\n", number, counters[0], counters[1], counters[2], token, shared_sum, (long)signals);
  fflush(stdout);
  return 0;
}

int main(void) {
  signal(SIGUSR1, on_signal);
  printf("counters at %p\n", (void*)counters);
  fflush(stdout);
  for (int i = 0; i < kProcesses; ++i)
    if (pipe(ring[i])) return 1;
  for (int i = 0; i < kProcesses; ++i)
    if (!fork()) exit(member(i));
  int failed = 0, status;
  while (wait(&status) > 0) failed |= status;
  return failed != 0;
}

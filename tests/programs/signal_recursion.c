// Signals into recursions of integers, compiled in three ways: where the thread was is found again, and soon.
// e2e: varies async
#include <sys/time.h>

#include "common.h"

static volatile sig_atomic_t rang;
static volatile unsigned long entered, at;
static void ring(int sig) {
  at = entered;
  rang = sig;
}

// Up and down, with a counter that tells each pass; the same without; and so deep that no level comes again soon.
#define RECURSIONS(level)                                                                         \
  __attribute__((noinline, optimize(level))) static long counting_##level(int n) {                \
    entered++;                                                                                    \
    return n < 2 ? n : counting_##level(n - 1) + counting_##level(n - 2);                         \
  }                                                                                               \
  __attribute__((noinline, optimize(level))) static long plain_##level(int n) {                   \
    return n < 2 ? n : plain_##level(n - 1) + plain_##level(n - 2);                               \
  }                                                                                               \
  __attribute__((noinline, optimize(level))) static long deep_##level(int n) {                    \
    if (n == 0) return 1;                                                                         \
    return (deep_##level(n - 1) * 5 + n) % 1000003;                                               \
  }
RECURSIONS(0)
RECURSIONS(1)
RECURSIONS(2)

static void interrupt(const char* name, long (*function)(int), int n, int timer, int sig) {
  on_signal_flags(sig, ring, 0);
  struct itimerval soon = {{0, 0}, {0, 10000}};
  long sum = 0, calls = 0;
  rang = 0;
  CHECK(setitimer(timer, &soon, NULL) == 0);
  while (!rang) {
    entered++;
    calls++;
    sum += function(n);
  }
  CHECK(rang == sig);
  say("%s: signal at %lu, ended after %ld calls at %lu, sum %ld\n", name, at, calls, entered, sum);
}

#define INTERRUPT(level)                                                             \
  interrupt("counting -O" #level, counting_##level, 22, ITIMER_REAL, SIGALRM);       \
  interrupt("plain -O" #level, plain_##level, 20, ITIMER_VIRTUAL, SIGVTALRM);        \
  interrupt("deep -O" #level, deep_##level, 20000, ITIMER_PROF, SIGPROF);            \
  interrupt("counting again -O" #level, counting_##level, 20, ITIMER_VIRTUAL, SIGVTALRM)

int main(void) {
  INTERRUPT(0);
  INTERRUPT(1);
  INTERRUPT(2);
  return 0;
}

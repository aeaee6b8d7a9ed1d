// What remote_gdb_test looks at through gdb, by these line numbers. A second thread waits while the first computes.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

struct point {
  int x, y;
  double weight;
};

int total = 0;
__thread int mine = 7;
static int ends[2], ready[2];

__attribute__((noinline)) int add(int left, int right) {
  int sum = left + right;  // line 18
  total += sum;            // line 19
  return sum;
}

__attribute__((noinline)) double weigh(const struct point* point) {
  double result = point->weight * 2;  // line 24
  return result;
}

static void* wait_for_end(void* unused) {
  char byte = 'r';
  mine = 8;
  if (write(ready[1], &byte, 1) != 1) return unused;
  if (read(ends[0], &byte, 1) != 1) return unused;
  return 0;
}

int main(void) {
  pthread_t thread;
  char byte;
  if (pipe(ends) != 0 || pipe(ready) != 0) return 2;
  if (pthread_create(&thread, 0, wait_for_end, 0) != 0) return 2;
  if (read(ready[0], &byte, 1) != 1) return 2;

  struct point point = {3, 4, 1.25};  // line 43
  int first = add(1, 2);              // line 44
  for (int i = 0; i < 3; ++i) {       // line 45
    first += add(first, i);           // line 46
  }
  double weight = weigh(&point);  // line 48
  printf("%d %d %g\n", total, first, weight);
  raise(SIGUSR1);  // line 50
  close(ends[1]);
  pthread_join(thread, 0);
  return total == 28 ? 3 : 4;
}

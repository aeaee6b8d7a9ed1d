// OpenMP: sections, single, tasks and loops of tasks, teams within teams; who does what is printed.
// e2e: varies
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long hash = 1;

static void note(int what) {
#pragma omp critical
  hash = hash * 1099511628211ul + (unsigned)(what * 64 + omp_get_thread_num());
}

static long fibonacci(int n) {
  if (n < 2) return n;
  long a, b;
#pragma omp task shared(a)
  a = fibonacci(n - 1);
#pragma omp task shared(b)
  b = fibonacci(n - 2);
#pragma omp taskwait
  note(n);
  return a + b;
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 4;
  for (int round = 0; round < 200; ++round) {
    int copied = 0, chain = 0;
#pragma omp parallel num_threads(threads) firstprivate(copied)
    {
#pragma omp sections nowait
      {
        note(1);
#pragma omp section
        note(2);
#pragma omp section
        note(3);
#pragma omp section
        note(4);
#pragma omp section
        note(5);
      }
#pragma omp single nowait
      note(6);
#pragma omp single
      note(7);
#pragma omp single copyprivate(copied)
      copied = omp_get_thread_num() + 100 * round;
      note(copied);
#pragma omp masked
      note(8);
#pragma omp barrier
#pragma omp single
      for (int i = 0; i < 10; ++i) {
#pragma omp task firstprivate(i) depend(inout : chain)
        {
          chain = chain * 3 + i;
          note(10 + i);
        }
      }
#pragma omp single
#pragma omp taskloop grainsize(2)
      for (int i = 0; i < 20; ++i) note(30 + i);
    }
    hash += (unsigned)chain;
    if (round % 50 == 0) printf("%d %lx\n", round, hash);
  }
  long value = 0;
#pragma omp parallel num_threads(threads)
#pragma omp single
  value = fibonacci(12);
  printf("%ld %lx\n", value, hash);
  omp_set_max_active_levels(2);
  for (int round = 0; round < 5; ++round) {
#pragma omp parallel num_threads(2)
    {
      int outer = omp_get_thread_num();
#pragma omp parallel num_threads(threads / 2 + 1)
      {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < 50; ++i) note(outer * 100 + i);
      }
    }
  }
  printf("%lx\n", hash);
  return 0;
}

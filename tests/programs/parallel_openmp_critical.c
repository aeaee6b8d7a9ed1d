// OpenMP: critical sections, named and not, and locks of each kind; the order of entering them decides what is printed.
// e2e: varies
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRounds = 10000 };
static unsigned long hash = 1, named = 1, locked = 1, nested = 1, tries;

static void mix(unsigned long *value, int thread) { *value = *value * 1099511628211ul + (unsigned)thread + 1; }

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 4;
  omp_lock_t lock, tried;
  omp_nest_lock_t nest;
  omp_init_lock(&lock);
  omp_init_lock(&tried);
  omp_init_nest_lock(&nest);
#pragma omp parallel num_threads(threads)
  {
    int me = omp_get_thread_num();
    for (int i = 0; i < kRounds; ++i) {
#pragma omp critical
      mix(&hash, me);
#pragma omp critical(other)
      mix(&named, me);
      omp_set_lock(&lock);
      mix(&locked, me);
      omp_unset_lock(&lock);
      omp_set_nest_lock(&nest);
      omp_set_nest_lock(&nest);
      if (i % 3 == 0 && omp_test_nest_lock(&nest) != 3) abort();
      mix(&nested, me);
      if (i % 3 == 0) omp_unset_nest_lock(&nest);
      omp_unset_nest_lock(&nest);
      omp_unset_nest_lock(&nest);
      if (omp_test_lock(&tried)) {
        mix(&tries, me);
        omp_unset_lock(&tried);
      }
    }
  }
  printf("%lx %lx %lx %lx %lx\n", hash, named, locked, nested, tries);
  return 0;
}

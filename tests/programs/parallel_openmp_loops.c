// OpenMP: loops of each schedule, and reductions of two variables whose sums depend on the order of adding.
// e2e: varies
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { kCount = 6000 };
static unsigned char who[kCount];

static double term(long i) { return 1.0 / (double)(i * i + 1) + 1e9 / (double)(i + 1); }

static unsigned long owners(void) {
  unsigned long hash = 1;
  for (int i = 0; i < kCount; ++i) hash = hash * 1099511628211ul + who[i];
  return hash;
}

#define LOOP(name, type, step, ...)                                                                     \
  do {                                                                                                  \
    double sum = 0, squares = 0;                                                                        \
    _Pragma("omp parallel num_threads(threads)")                                                        \
    {                                                                                                   \
      _Pragma(#__VA_ARGS__) for (type i = 0; i < kCount; i += step) {                                   \
        who[i] = (unsigned char)omp_get_thread_num();                                                   \
        sum += term((long)i);                                                                           \
        squares += term((long)i) * term((long)i);                                                       \
      }                                                                                                 \
    }                                                                                                   \
    printf("%s %a %a %lx\n", name, sum, squares, owners());                                             \
  } while (0)

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 4;
  omp_set_schedule(omp_sched_dynamic, 3);
  for (int round = 0; round < 5; ++round) {
    LOOP("dynamic", long, 1, omp for schedule(dynamic) reduction(+ : sum, squares));
    LOOP("chunks", int, 3, omp for schedule(monotonic : dynamic, 7) reduction(+ : sum, squares));
    LOOP("guided", int, 1, omp for schedule(guided) reduction(+ : sum, squares));
    LOOP("runtime", int, 1, omp for schedule(runtime) reduction(+ : sum, squares));
    LOOP("unsigned", unsigned long, 1, omp for schedule(dynamic, 2) reduction(+ : sum, squares));
    LOOP("unsigned guided", unsigned long, 2, omp for schedule(guided) reduction(+ : sum, squares));
    LOOP("unsigned runtime", unsigned long, 2, omp for schedule(runtime) reduction(+ : sum, squares));
    LOOP("static", int, 1, omp for schedule(static, 5) reduction(+ : sum, squares));
  }
  double sum = 0, squares = 0;
#pragma omp parallel for schedule(dynamic, 4) num_threads(threads) reduction(+ : sum, squares)
  for (int i = 0; i < kCount; ++i) {
    sum += term(i);
    squares += term(i) * term(i);
  }
  printf("combined %a %a\n", sum, squares);

  // What is done in order of the iterations tells who did them.
  unsigned long order = 1;
  for (int round = 0; round < 20; ++round) {
#pragma omp parallel num_threads(threads)
    {
#pragma omp for ordered schedule(dynamic, 2)
      for (int i = 0; i < 100; ++i) {
#pragma omp ordered
        order = order * 31 + (unsigned)(omp_get_thread_num() * 1000 + i);
      }
#pragma omp for ordered schedule(guided)
      for (unsigned long i = 0; i < 100; ++i) {
#pragma omp ordered
        order = order * 31 + (unsigned long)omp_get_thread_num() * 1000 + i;
      }
#pragma omp for ordered schedule(runtime)
      for (int i = 0; i < 100; ++i) {
#pragma omp ordered
        order = order * 31 + (unsigned)(omp_get_thread_num() * 1000 + i);
      }
    }
  }
  printf("ordered %lx\n", order);

  long cell[60] = {0};
#pragma omp parallel for ordered(1) schedule(dynamic, 1) num_threads(threads)
  for (int i = 1; i < 60; ++i) {
#pragma omp ordered depend(sink : i - 1)
    cell[i] = cell[i - 1] * 3 + omp_get_thread_num();
#pragma omp ordered depend(source)
  }
  printf("doacross %ld\n", cell[59]);
  return 0;
}

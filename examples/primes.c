// primes: counts primes with a few workers that share two objects, the work still to be done and the total so
// far.
//
//   primes [STEP [WORKERS [LIMIT]]]      default: 1000 3 5000
//
// Built twice: primes-threads, where the workers are threads, and primes-processes, where they are processes
// with shared memory. The total is always the same; who does which piece is not. No locks: each object is one
// atomic word, and says to pastcone when it is used.
#include <pastcone/object.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

struct Object {
  struct pastcone_object object;
  int value;
};

struct Shared {
  struct Object work;   // numbers up to here are still to be looked at
  struct Object total;  // primes found so far
};

static struct Shared* shared;
static int step = 1000, limit = 5000;

static int is_prime(int n) {
  for (int d = 2; d * d <= n; d++)
    if (n % d == 0) return 0;
  return n > 1;
}

// Takes a piece of the work; returns its upper end, or at most 0 if there is none left.
static int take_work(void) {
  pastcone_write_begin(&shared->work.object);
  int upper = __atomic_fetch_sub(&shared->work.value, step, __ATOMIC_RELAXED);
  pastcone_write_end(&shared->work.object);
  return upper;
}

static void add_to_total(int found) {
  pastcone_write_begin(&shared->total.object);
  __atomic_fetch_add(&shared->total.value, found, __ATOMIC_RELAXED);
  pastcone_write_end(&shared->total.object);
}

static void* work(void* number) {
  int me = *(const int*)number;
  for (int upper; (upper = take_work()) > 0;) {
    int found = 0, lower = upper > step ? upper - step + 1 : 1;
    for (int n = lower; n <= upper; n++) found += is_prime(n);
    add_to_total(found);
    char line[80];
    int length = snprintf(line, sizeof line, "worker %d: %d primes in %d..%d\n", me, found, lower, upper);
    if (write(1, line, (size_t)length) != length) exit(1);
  }
  return NULL;
}

#ifdef WORKERS_ARE_PROCESSES

static void run_workers(int count) {
  for (int i = 1; i <= count; i++) {
    if (fork() == 0) {
      work(&i);
      _exit(0);
    }
  }
  while (wait(NULL) > 0) {
  }
}

#else

static void run_workers(int count) {
  pthread_t threads[64];
  int numbers[64];
  for (int i = 0; i < count; i++) {
    numbers[i] = i + 1;
    if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0) exit(1);
  }
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

#endif

int main(int argc, char** argv) {
  int workers = 3;
  if (argc > 1) step = atoi(argv[1]);
  if (argc > 2) workers = atoi(argv[2]);
  if (argc > 3) limit = atoi(argv[3]);
  if (step < 1 || workers < 1 || workers > 64 || limit < 1) {
    fprintf(stderr, "usage: %s [STEP [WORKERS (1 to 64) [LIMIT]]]\n", argv[0]);
    return 2;
  }
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return 1;
  pastcone_object_init(&shared->work.object, "work");
  pastcone_object_init(&shared->total.object, "total");
  shared->work.value = limit;
  run_workers(workers);
  pastcone_read_begin(&shared->total.object);
  printf("%d primes up to %d\n", shared->total.value, limit);
  pastcone_read_end(&shared->total.object);
  return 0;
}

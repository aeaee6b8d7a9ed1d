// Processes are forked while threads allocate; children allocate, have threads of their own, and say where.
// e2e: varies
#include "parallel_heap.h"

enum { kThreads = 3, kForks = 6, kSteps = 3000 };

static int stop;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t hashes[kThreads];

static int stopped(void) {
  pthread_mutex_lock(&mutex);
  int result = stop;
  pthread_mutex_unlock(&mutex);
  return result;
}

static void churn(uint64_t seed, int steps, uint64_t* hash) {
  void* blocks[50] = {0};
  for (int i = 0; i < steps; ++i) {
    void** slot = &blocks[next(&seed) % 50];
    free(*slot);
    mix(hash, *slot = malloc(some_size(&seed)));
    CHECK(*slot);
  }
  for (int i = 0; i < 50; ++i) free(blocks[i]);
}

static void* run(void* argument) {
  intptr_t number = (intptr_t)argument;
  for (uint64_t i = 1; !stopped(); ++i) churn(i * 8 + (uint64_t)number, 200, &hashes[number]);
  return NULL;
}

static void* run_in_child(void* argument) {
  uint64_t* hash = argument;
  churn(3 + *hash, kSteps, hash);
  return NULL;
}

static void child(int number) {
  uint64_t own = 0, others[2] = {1, 2};
  pthread_t threads[2];
  churn((uint64_t)number + 1, kSteps, &own);
  for (int i = 0; i < 2; ++i) CHECK(!pthread_create(&threads[i], NULL, run_in_child, &others[i]));
  churn((uint64_t)number + 9, kSteps, &own);
  for (int i = 0; i < 2; ++i) CHECK(!pthread_join(threads[i], NULL));
  say("child %d: %016lx %016lx %016lx\n", number, (unsigned long)own, (unsigned long)others[0],
      (unsigned long)others[1]);
  exit(0);
}

int main(void) {
  pthread_t threads[kThreads];
  uint64_t own = 0;
  for (intptr_t i = 0; i < kThreads; ++i) CHECK(!pthread_create(&threads[i], NULL, run, (void*)i));
  for (int i = 0; i < kForks; ++i) {
    churn((uint64_t)i + 5, 500, &own);
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (!pid) child(i);
    churn((uint64_t)i + 7, 500, &own);
    CHECK(exit_status(pid) == 0);
  }
  pthread_mutex_lock(&mutex);
  stop = 1;
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < kThreads; ++i) CHECK(!pthread_join(threads[i], NULL));
  say("parent: %016lx %016lx %016lx %016lx\n", (unsigned long)own, (unsigned long)hashes[0],
      (unsigned long)hashes[1], (unsigned long)hashes[2]);
  return 0;
}

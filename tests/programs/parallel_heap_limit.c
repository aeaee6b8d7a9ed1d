// Memory is limited while threads allocate: whether there was some is the same again.
// e2e: varies
#include <sys/resource.h>

#include "parallel_heap.h"

enum { kThreads = 2, kBlocks = 1000 };

static int count = 40;
static int failed[kThreads];
static uint64_t hashes[kThreads];

static void* run(void* argument) {
  intptr_t number = (intptr_t)argument;
  uint64_t state = 3 + (uint64_t)number;
  void* blocks[kBlocks];
  for (int i = 0; i < count; ++i) {
    mix(&hashes[number], blocks[i] = malloc(100000 + next(&state) % 400000));
    failed[number] += !blocks[i];
  }
  for (int i = 0; i < count; ++i) free(blocks[i]);
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  for (intptr_t i = 0; i < kThreads; ++i) CHECK(!pthread_create(&threads[i], NULL, run, (void*)i));
  for (int i = 0; i < kThreads; ++i) CHECK(!pthread_join(threads[i], NULL));
  say("no limit: %d and %d failed\n", failed[0], failed[1]);
  struct rlimit limit;
  CHECK(!getrlimit(RLIMIT_AS, &limit));
  limit.rlim_cur = 300UL << 20;
  CHECK(!setrlimit(RLIMIT_AS, &limit));
  count = kBlocks;
  for (intptr_t i = 0; i < kThreads; ++i) CHECK(!pthread_create(&threads[i], NULL, run, (void*)i));
  for (int i = 0; i < kThreads; ++i) CHECK(!pthread_join(threads[i], NULL));
  say("300 MB: %d and %d failed, %016lx %016lx\n", failed[0], failed[1], (unsigned long)hashes[0],
      (unsigned long)hashes[1]);
  return 0;
}

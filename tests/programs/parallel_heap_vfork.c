// After vfork the child allocates from its parent's heap, while the parent's other threads do so too.
// e2e: varies helper
#include "parallel_heap.h"

enum { kThreads = 3, kChildren = 20 };

static int stop;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint64_t hashes[kThreads];

static void* run(void* argument) {
  intptr_t number = (intptr_t)argument;
  uint64_t state = 11 + (uint64_t)number;
  void* blocks[50] = {0};
  for (int stopped = 0; !stopped;) {
    for (int i = 0; i < 100; ++i) {
      void** slot = &blocks[next(&state) % 50];
      free(*slot);
      mix(&hashes[number], *slot = malloc(some_size(&state)));
    }
    pthread_mutex_lock(&mutex);
    stopped = stop;
    pthread_mutex_unlock(&mutex);
  }
  for (int i = 0; i < 50; ++i) free(blocks[i]);
  return NULL;
}

static uint64_t own;

int main(void) {
  pthread_t threads[kThreads];
  for (intptr_t i = 0; i < kThreads; ++i) CHECK(!pthread_create(&threads[i], NULL, run, (void*)i));
  for (int i = 0; i < kChildren; ++i) {
    void* volatile from_child[20];
    pid_t pid = vfork();
    if (!pid) {
      for (int j = 0; j < 20; ++j) from_child[j] = malloc(70 << j % 10);
      free(from_child[0]);
      _exit(0);
    }
    CHECK(pid > 0 && exit_status(pid) == 0);
    for (int j = 1; j < 20; ++j) {
      CHECK(from_child[j]);
      mix(&own, from_child[j]);
      free(from_child[j]);
    }
    mix(&own, malloc(70));
  }
  pthread_mutex_lock(&mutex);
  stop = 1;
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < kThreads; ++i) CHECK(!pthread_join(threads[i], NULL));
  say("%016lx, threads %016lx %016lx %016lx\n", (unsigned long)own, (unsigned long)hashes[0],
      (unsigned long)hashes[1], (unsigned long)hashes[2]);
  return 0;
}

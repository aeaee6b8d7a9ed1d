// Threads come and go, joined or detached at some moment; what they leave is used by others.
// e2e: varies
#include "parallel_heap.h"

enum { kRounds = 40, kThreads = 5, kBlocks = 200 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static void* left[kThreads][kBlocks];
static uint64_t hash;
static int done;

static void* run(void* argument) {
  intptr_t number = (intptr_t)argument % kThreads;
  uint64_t state = 1 + (uint64_t)(intptr_t)argument, own = 0;
  void* blocks[kBlocks];
  for (int i = 0; i < kBlocks; ++i) {
    mix(&own, blocks[i] = malloc(some_size(&state) % 2000));
    CHECK(blocks[i]);
  }
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < kBlocks; i += 2) {
    void* p = left[number][i];
    left[number][i] = blocks[i];
    blocks[i] = p;
  }
  mix(&hash, (void*)(uintptr_t)own);
  ++done;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
  for (int i = 0; i < kBlocks; ++i) free(blocks[i]);
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < kThreads; ++i) {
      CHECK(!pthread_create(&threads[i], NULL, run, (void*)(intptr_t)(round * kThreads + i)));
      if (i % 2) CHECK(!pthread_detach(threads[i]));
    }
    for (int i = 0; i < kThreads; i += 2) CHECK(!pthread_join(threads[i], NULL));
    pthread_mutex_lock(&mutex);
    while (done < (round + 1) * kThreads) pthread_cond_wait(&changed, &mutex);
    mix(&hash, malloc(40));
    if (round % 10 == 0) say("round %d: %016lx, %p\n", round, (unsigned long)hash, malloc(60));
    pthread_mutex_unlock(&mutex);
  }
  say("at the end %016lx\n", (unsigned long)hash);
  return 0;
}

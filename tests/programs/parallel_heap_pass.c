// Blocks go from those that allocate to those that free, through a queue.
// e2e: varies
#include "parallel_heap.h"

enum { kPairs = 2, kBlocks = 8000, kWaiting = 64 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static char* queue[kWaiting];
static unsigned from, to;
static uint64_t produced[kPairs], consumed[kPairs];

static void* produce(void* argument) {
  intptr_t number = (intptr_t)argument;
  uint64_t state = 99 + (uint64_t)number;
  for (int i = 0; i < kBlocks; ++i) {
    size_t size = some_size(&state);
    char* block = malloc(size);
    CHECK(block);
    block[0] = block[size - 1] = (char)i;
    mix(&produced[number], block);
    pthread_mutex_lock(&mutex);
    while (to - from == kWaiting) pthread_cond_wait(&changed, &mutex);
    queue[to++ % kWaiting] = block;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
  }
  return NULL;
}

static void* consume(void* argument) {
  intptr_t number = (intptr_t)argument;
  for (int i = 0; i < kBlocks; ++i) {
    pthread_mutex_lock(&mutex);
    while (to == from) pthread_cond_wait(&changed, &mutex);
    char* block = queue[from++ % kWaiting];
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    mix(&consumed[number], block);
    free(block);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[2 * kPairs];
  for (intptr_t i = 0; i < kPairs; ++i) {
    CHECK(!pthread_create(&threads[2 * i], NULL, produce, (void*)i));
    CHECK(!pthread_create(&threads[2 * i + 1], NULL, consume, (void*)i));
  }
  for (int i = 0; i < 2 * kPairs; ++i) CHECK(!pthread_join(threads[i], NULL));
  for (int i = 0; i < kPairs; ++i)
    say("pair %d: produced %016lx, consumed %016lx\n", i, (unsigned long)produced[i],
        (unsigned long)consumed[i]);
  say("and then %p\n", malloc(100));
  return 0;
}

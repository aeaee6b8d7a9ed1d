// malloc under churn: addresses of small, large, aligned and reallocated blocks, in two threads.
// e2e: varies
#include <malloc.h>
#include <pthread.h>

#include "common.h"

static void* churn(void* arg) {
  void* live[50] = {0};
  uint64_t x = (uint64_t)(long)arg + 1;
  uint32_t hash = HASH_START;
  for (int i = 0; i < 2000; i++) {
    x = x * 6364136223846793005u + 1442695040888963407u;
    size_t at = x >> 33 & 31, size = x >> 40 & 0xfff;
    if (i % 200 == 0) size = 300000;
    live[at] = i % 3 ? realloc(live[at], size + 1) : (free(live[at]), malloc(size + 1));
    hash = hash_bytes(hash, &live[at], sizeof live[at]);
  }
  say("thread %ld: last %p, all %08x\n", (long)arg, live[5], hash);
  return NULL;
}

int main(void) {
  say("%p %p %p\n", malloc(1), aligned_alloc(4096, 8192), calloc(1000, 1000));
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, churn, (void*)1) == 0);
  churn((void*)0);
  CHECK(pthread_join(thread, NULL) == 0);
  struct mallinfo2 info = mallinfo2();
  say("arena %zu, in use %zu, mapped %zu\n", info.arena, info.uordblks, info.hblkhd);
  malloc_trim(0);
  return 0;
}

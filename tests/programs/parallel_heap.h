// What the programs about the heap in threads share: random sizes, and a hash of the addresses that a thread
// saw.
#ifndef PASTCONE_TESTS_PARALLEL_HEAP_H
#define PASTCONE_TESTS_PARALLEL_HEAP_H
#include <pthread.h>

#include "common.h"

static inline uint64_t next(uint64_t* state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

// Mostly small, sometimes some pages, seldom more.
static inline size_t some_size(uint64_t* state) {
  uint64_t n = next(state);
  if (n % 64 < 56) return 1 + (n >> 8) % 300;
  return n % 64 < 63 ? 300 + (n >> 8) % 8000 : 8000 + (n >> 8) % 200000;
}

static inline void mix(uint64_t* hash, const void* p) {
  *hash = (*hash ^ (uintptr_t)p) * 0x9e3779b97f4a7c15;
  *hash ^= *hash >> 29;
}
#endif

// A heap that hands out the same addresses again: an address depends on the calls of the thread that asks, in
// its own order, and on the order in which threads take the pool's locks. Record that order, and replay has
// the same heap though threads run in parallel. Free blocks go to the thread that frees them, whoever had
// them first.
//
// No libc but memcpy and memset, no allocation, no thread-local variables: the embedder gives a Platform, a
// range of addresses, and a ThreadHeap per thread. A ThreadHeap is used by its thread alone, without locks or
// atomics; most calls touch nothing else. Errno is the embedder's: failure is a null pointer.
#pragma once

#include "pool.h"

namespace pastcone::heap {

/// Blocks of one class that a thread keeps.
struct Cache {
  Block* list;
  uint32_t count;  // in the list: less than a batch
  uint32_t batch;
  Block* full;  // one more batch, or none
  char *fresh, *fresh_end;
  bool fresh_is_zero;
};

struct ThreadHeap {
  uintptr_t base;
  size_t size;
  const uint8_t* kinds;
  Pool* pool;
  Cache caches[kClasses];
};

/// The range must be free and its base a multiple of kPageSize; tables take 1/400 of it, and it is mapped as
/// it is needed. The memory of pool need not be initialised. False if the tables cannot be mapped.
bool heap_init(Pool& pool, const Platform& platform, uintptr_t base, size_t size);
void heap_thread_begin(ThreadHeap& heap, Pool& pool);
/// What the thread kept goes to the others. The ThreadHeap may be used on, and is then as new.
void heap_thread_end(ThreadHeap& heap);

/// Around fork, in the thread that forks; in the child, too. The child goes on with its own thread's
/// ThreadHeap. The blocks that other threads kept are lost to it: where those threads were is not known to
/// replay.
void heap_lock_all(Pool& pool);
void heap_unlock_all(Pool& pool);

void* heap_calloc(ThreadHeap& heap, size_t count, size_t size);
void* heap_realloc(ThreadHeap& heap, void* p, size_t size);
/// The alignment is a power of two.
void* heap_memalign(ThreadHeap& heap, size_t alignment, size_t size);
size_t heap_usable_size(const ThreadHeap& heap, const void* p);
/// As much memory as possible back to the system.
void heap_trim(ThreadHeap& heap);

// Not to be called from outside.
void* allocate_more(ThreadHeap& heap, unsigned c, bool* zero);
void* allocate_large(ThreadHeap& heap, size_t size, size_t alignment);
void pass_on(ThreadHeap& heap, unsigned c);
void free_other(ThreadHeap& heap, void* p);
void fail(const ThreadHeap& heap, const char* message);

inline void* heap_malloc(ThreadHeap& heap, size_t size) {
  if (size > kSmallMax) [[unlikely]]
    return allocate_large(heap, size, 1);
  unsigned c = class_of(size);
  Cache& cache = heap.caches[c];
  Block* block = cache.list;
  if (!block) [[unlikely]]
    return allocate_more(heap, c, nullptr);
  cache.list = block->next;
  --cache.count;
  return block;
}

inline void heap_free(ThreadHeap& heap, void* p) {
  uintptr_t offset = reinterpret_cast<uintptr_t>(p) - heap.base;
  if (offset >= heap.size || offset % kAlignment) [[unlikely]]
    return free_other(heap, p);
  unsigned c = heap.kinds[offset >> kPageShift] - 1u;
  if (c >= kClasses) [[unlikely]]
    return free_other(heap, p);
  Cache& cache = heap.caches[c];
  Block* block = static_cast<Block*>(p);
  if (block == cache.list) [[unlikely]]
    return fail(heap, "double free or corruption (fasttop)");
  block->next = cache.list;
  cache.list = block;
  if (++cache.count == cache.batch) [[unlikely]]
    pass_on(heap, c);
}

}  // namespace pastcone::heap

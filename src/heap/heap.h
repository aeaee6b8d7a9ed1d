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

/// Blocks of one class that a thread keeps: a list,
struct Cache {
  Block* list;
  uint32_t room;  // for more, until a batch is passed on
};
/// and what it is made longer from.
struct Supply {
  Block* full;              // whole batches
  char *fresh, *fresh_end;  // memory to be cut into blocks
  bool fresh_is_zero;
};

struct ThreadHeap {
  uintptr_t base;
  size_t size;
  const size_t* mapped;
  const uint8_t* kinds;
  Pool* pool;
  unsigned arena;
  bool has_arena;  // from its first block on
  size_t kept;     // bytes of whole batches
  void* large;     // one that was freed last, if it is not very large
  Cache caches[kClasses];
  Supply supplies[kClasses];
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
/// Then, in the child: its thread is the only one.
void heap_forked(ThreadHeap& heap);

void* heap_calloc(ThreadHeap& heap, size_t count, size_t size);
void* heap_realloc(ThreadHeap& heap, void* p, size_t size);
/// The alignment is a power of two.
void* heap_memalign(ThreadHeap& heap, size_t alignment, size_t size);
size_t heap_usable_size(const ThreadHeap& heap, void* p);
/// As much memory as possible back to the system.
void heap_trim(ThreadHeap& heap);

// Not to be called from outside.
void* allocate_more(ThreadHeap& heap, unsigned c, bool* zero);
void pass_on(ThreadHeap& heap, unsigned c);
void free_other(ThreadHeap& heap, void* p);
void fail(const ThreadHeap& heap, const char* message);
// Large blocks: large.cc.
void* allocate_large(ThreadHeap& heap, size_t size, size_t alignment);
void* realloc_large(ThreadHeap& heap, void* p, size_t size);
void free_large(ThreadHeap& heap, void* p);
void clear_large(ThreadHeap& heap, void* p, size_t size);
size_t large_size(const ThreadHeap& heap, const void* p);
void drop_large(ThreadHeap& heap);

/// A block if the thread has one at hand. Then heap_malloc would return the same; else it is to be called.
inline void* heap_malloc_at_hand(ThreadHeap& heap, size_t size) {
  if (size > kSmallMax) [[unlikely]]
    return nullptr;
  Cache& cache = heap.caches[class_of(size)];
  Block* block = cache.list;
  if (block) [[likely]] {
    cache.list = block->next;
    ++cache.room;
  }
  return block;
}

inline void* heap_malloc(ThreadHeap& heap, size_t size) {
  void* p = heap_malloc_at_hand(heap, size);
  if (p) [[likely]]
    return p;
  return size > kSmallMax ? allocate_large(heap, size, 1) : allocate_more(heap, class_of(size), nullptr);
}

/// Frees small blocks; false, and nothing happens, if it may be something else.
inline bool heap_free_small(ThreadHeap& heap, void* p) {
  uintptr_t offset = reinterpret_cast<uintptr_t>(p) - heap.base;
  // Large blocks begin where a page does: what stands before those is not ours.
  if (offset >= *heap.mapped || offset % kPageSize == 0) [[unlikely]]
    return false;
  unsigned c = class_by(p, header_of(p));
  Block* block = static_cast<Block*>(p);
  if (c >= kClasses || block == heap.caches[c].list) [[unlikely]]
    return false;
  Cache& cache = heap.caches[c];
  block->next = cache.list;
  cache.list = block;
  if (--cache.room == 0) [[unlikely]]
    pass_on(heap, c);
  return true;
}

inline void heap_free(ThreadHeap& heap, void* p) {
  if (!heap_free_small(heap, p)) [[unlikely]]
    free_other(heap, p);
}

}  // namespace pastcone::heap

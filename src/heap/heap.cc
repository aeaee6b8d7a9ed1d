#include "heap.h"

namespace pastcone::heap {
namespace {

constexpr size_t kMoveAtLeast = size_t{1} << 20;  // below that, copying is cheaper and keeps mappings whole
constexpr size_t kDiscardAtOnce = size_t{32} << 20;  // as glibc, which unmaps blocks of that size

Page& page(const ThreadHeap& heap, uint32_t index) { return heap.pool->pages.pages[index]; }

/// 0 if it cannot be.
uint32_t pages_for(const ThreadHeap& heap, size_t size) {
  return size <= heap.size ? static_cast<uint32_t>((size + kPageSize - 1) >> kPageShift) : 0;
}

/// What a pointer is, as in Kind; kClean if it cannot come from here.
uint8_t kind_of(const ThreadHeap& heap, const void* p) {
  uintptr_t offset = reinterpret_cast<uintptr_t>(p) - heap.base;
  if (offset >= heap.size || offset % kAlignment) return kClean;
  uint8_t kind = heap.kinds[offset >> kPageShift];
  bool block = kind == kLarge ? offset % kPageSize == 0 : kind <= kClasses;
  return block ? kind : uint8_t{kClean};
}

void* take_large(ThreadHeap& heap, uint32_t pages, uint32_t alignment) {
  Pool& pool = *heap.pool;
  uint32_t first;
  {
    Locked locked(pool, kPageLock);
    first = take_run(pool, pages, alignment);
  }
  if (!first) return nullptr;
  pool.kinds[first] = kLarge;
  return reinterpret_cast<void*>(pool.address(first));
}

/// The kinds of pages that were used and are going to be free. Memory of a big block is given back before
/// anybody has to wait for it.
void leave_pages(Pool& pool, uint32_t first, uint32_t pages) {
  size_t size = size_t{pages} << kPageShift;
  if (size < kDiscardAtOnce || !pool.platform.discard(pool.platform.context, pool.address(first), size)) {
    __builtin_memset(&pool.kinds[first], kDirty, pages);
    return;
  }
  for (uint32_t i = first; i < first + pages; ++i)  // the table, too, takes up memory where it is written to
    if (pool.kinds[i] != kClean) pool.kinds[i] = kClean;
}

void free_large(Pool& pool, uint32_t first) {
  uint32_t pages = pool.pages.pages[first].pages;
  leave_pages(pool, first, pages);
  Locked locked(pool, kPageLock);
  give_run(pool, first, pages);
}

void clear_large(ThreadHeap& heap, void* p, size_t size) {
  uint32_t first = heap.pool->page_of(p);
  if (page(heap, first).dirty == 0) return;
  for (size_t at = 0; at < size; at += kPageSize)
    if (at == 0 || heap.kinds[first + (at >> kPageShift)] != kClean)
      __builtin_memset(static_cast<char*>(p) + at, 0, size - at < kPageSize ? size - at : kPageSize);
}

/// Longer or shorter where it is; false if that does not go.
bool resize_large(ThreadHeap& heap, uint32_t first, uint32_t pages) {
  Pool& pool = *heap.pool;
  uint32_t have = page(heap, first).pages;
  if (pages == have) return true;
  if (pages < have) leave_pages(pool, first + pages, have - pages);
  Locked locked(pool, kPageLock);
  if (pages > have) return extend_run(pool, first, pages);
  cut_run(pool, first, pages);
  return true;
}

/// To a new place, with room to grow there: what is not used costs no memory.
void* move_large(ThreadHeap& heap, void* p, uint32_t pages) {
  Pool& pool = *heap.pool;
  uint32_t first = pool.page_of(p), have = page(heap, first).pages;
  void* moved = take_large(heap, pages + pages / 8, 1);
  if (!moved) moved = take_large(heap, pages, 1);
  if (!moved) return nullptr;
  size_t size = size_t{have} << kPageShift;
  if (size >= kMoveAtLeast && pool.platform.move &&
      pool.platform.move(pool.platform.context, pool.address(first), reinterpret_cast<uintptr_t>(moved),
                         size)) {
    __builtin_memset(&pool.kinds[first], kClean, have);
    Locked locked(pool, kPageLock);
    give_run(pool, first, have);
  } else {
    __builtin_memcpy(moved, p, size);
    free_large(pool, first);
  }
  return moved;
}

void* move_block(ThreadHeap& heap, void* p, size_t have, size_t size) {
  void* moved = heap_malloc(heap, size);
  if (!moved) return nullptr;
  __builtin_memcpy(moved, p, have < size ? have : size);
  heap_free(heap, p);
  return moved;
}

}  // namespace

bool heap_init(Pool& pool, const Platform& platform, uintptr_t base, size_t size) {
  constexpr size_t kLargest = (size_t{1} << (kPageShift + 32)) - kPageSize;  // by 32-bit indices
  __builtin_memset(&pool, 0, sizeof pool);
  pool.platform = platform;
  pool.base = base;
  pool.size = (size < kLargest ? size : kLargest) & ~(kPageSize - 1);
  size_t count = pool.size >> kPageShift, kinds_size = (count + kPageSize - 1) & ~(kPageSize - 1);
  size_t table_size = kinds_size + (((count + 1) * sizeof(Page) + 2 * kPageSize) & ~(kPageSize - 1));
  PagePool& pages = pool.pages;
  pool.kinds = reinterpret_cast<uint8_t*>(base);
  pages.pages = reinterpret_cast<Page*>(base + kinds_size);
  pages.table_top = base + kinds_size;
  pages.begin = pages.top = static_cast<uint32_t>((table_size >> kPageShift) + 1);
  pages.end = static_cast<uint32_t>(count);
  return pages.begin < pages.end && platform.map(platform.context, base, kinds_size);
}

void heap_thread_begin(ThreadHeap& heap, Pool& pool) {
  __builtin_memset(&heap, 0, sizeof heap);
  heap.base = pool.base;
  heap.size = pool.size;
  heap.kinds = pool.kinds;
  heap.pool = &pool;
  for (unsigned c = 0; c < kClasses; ++c) heap.caches[c].batch = kSizes[c].batch;
}

void heap_thread_end(ThreadHeap& heap) {
  for (unsigned c = 0; c < kClasses; ++c) {
    Cache& cache = heap.caches[c];
    if (cache.full) give_batch(*heap.pool, c, cache.full);
    if (cache.list || cache.fresh != cache.fresh_end)
      give_blocks(*heap.pool, c, cache.list, cache.fresh, cache.fresh_end);
    cache = {nullptr, 0, cache.batch, nullptr, nullptr, nullptr, false};
  }
}

void heap_lock_all(Pool& pool) {
  for (unsigned c = 0; c < kClasses; ++c) pool.platform.lock(pool.platform.context, class_lock(c));
  pool.platform.lock(pool.platform.context, kPageLock);
}

void heap_unlock_all(Pool& pool) {
  pool.platform.unlock(pool.platform.context, kPageLock);
  for (unsigned c = kClasses; c--;) pool.platform.unlock(pool.platform.context, class_lock(c));
}

void* allocate_more(ThreadHeap& heap, unsigned c, bool* zero) {
  Cache& cache = heap.caches[c];
  if (cache.full) {
    cache.list = cache.full;
    cache.count = cache.batch;
    cache.full = nullptr;
  } else if (cache.fresh == cache.fresh_end) {
    Blocks taken = take_blocks(*heap.pool, c);
    cache.list = taken.list;
    cache.count = taken.count;
    cache.fresh = taken.fresh;
    cache.fresh_end = taken.fresh_end;
    cache.fresh_is_zero = taken.zero;
  }
  if (Block* block = cache.list) {
    cache.list = block->next;
    --cache.count;
    return block;
  }
  char* block = cache.fresh;
  if (!block) return nullptr;
  cache.fresh += kSizes[c].size;
  if (zero) *zero = cache.fresh_is_zero;
  return block;
}

/// The list has become a batch. One is kept, for when the thread allocates again.
void pass_on(ThreadHeap& heap, unsigned c) {
  Cache& cache = heap.caches[c];
  Block* batch = cache.full;
  cache.full = cache.list;
  cache.list = nullptr;
  cache.count = 0;
  if (batch) give_batch(*heap.pool, c, batch);
}

void* allocate_large(ThreadHeap& heap, size_t size, size_t alignment) {
  uint32_t pages = pages_for(heap, size);
  if (!pages || alignment > heap.size) return nullptr;
  return take_large(heap, pages, alignment <= kPageSize ? 1 : static_cast<uint32_t>(alignment >> kPageShift));
}

void free_other(ThreadHeap& heap, void* p) {
  if (!p) return;
  if (kind_of(heap, p) == kLarge) return free_large(*heap.pool, heap.pool->page_of(p));
  uintptr_t offset = reinterpret_cast<uintptr_t>(p) - heap.base;
  bool free_page =
      offset < heap.size && offset % kPageSize == 0 && heap.kinds[offset >> kPageShift] == kDirty;
  fail(heap, free_page ? "double free or corruption (out)" : "free(): invalid pointer");
}

void fail(const ThreadHeap& heap, const char* message) {
  heap.pool->platform.fail(heap.pool->platform.context, message);
}

void* heap_calloc(ThreadHeap& heap, size_t count, size_t size) {
  if (__builtin_mul_overflow(count, size, &size)) return nullptr;
  if (size > kSmallMax) {
    void* p = allocate_large(heap, size, 1);
    if (p) clear_large(heap, p, size);
    return p;
  }
  unsigned c = class_of(size);
  bool zero = false;
  void* p = heap.caches[c].list ? heap_malloc(heap, size) : allocate_more(heap, c, &zero);
  if (p && !zero) __builtin_memset(p, 0, size);
  return p;
}

void* heap_realloc(ThreadHeap& heap, void* p, size_t size) {
  if (!p) return heap_malloc(heap, size);
  if (size == 0) {
    heap_free(heap, p);
    return nullptr;
  }
  uint8_t kind = kind_of(heap, p);
  if (kind == kClean) {
    fail(heap, "realloc(): invalid pointer");
    return nullptr;
  }
  if (kind == kLarge && size > kSmallMax) {
    uint32_t first = heap.pool->page_of(p), pages = pages_for(heap, size);
    if (!pages) return nullptr;
    return resize_large(heap, first, pages) ? p : move_large(heap, p, pages);
  }
  size_t have = heap_usable_size(heap, p);
  if (size <= have && (kind == class_of(size) + 1u || size > have / 2)) return p;
  return move_block(heap, p, have, size);
}

void* heap_memalign(ThreadHeap& heap, size_t alignment, size_t size) {
  if (alignment <= kAlignment) return heap_malloc(heap, size);
  if (size > kSmallMax || alignment > kPageSize) return allocate_large(heap, size ? size : 1, alignment);
  // Spans begin at pages: blocks whose size is a multiple of the alignment have it. A power of two is never
  // far.
  unsigned c = class_of(size < alignment ? alignment : size);
  while (kSizes[c].size % alignment) ++c;
  return heap_malloc(heap, kSizes[c].size);
}

size_t heap_usable_size(const ThreadHeap& heap, const void* p) {
  uint8_t kind = kind_of(heap, p);
  if (kind == kClean) return 0;
  if (kind == kLarge) return size_t{page(heap, heap.pool->page_of(p)).pages} << kPageShift;
  return kSizes[kind - 1u].size;
}

void heap_trim(ThreadHeap& heap) {
  heap_thread_end(heap);
  for (unsigned c = 0; c < kClasses; ++c) drop_batches(*heap.pool, c);
  Locked locked(*heap.pool, kPageLock);
  discard_dirty(*heap.pool, 0);
}

}  // namespace pastcone::heap

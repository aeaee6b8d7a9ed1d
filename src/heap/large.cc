// Large blocks: runs of pages of their own.
#include "heap.h"

namespace pastcone::heap {
namespace {

constexpr size_t kMoveAtLeast = size_t{1} << 20;  // below that, copying is cheaper and keeps mappings whole
// As glibc, which unmaps what is longer than the longest that it has unmapped before.
constexpr uint32_t kDiscardAtFirst = (128 << 10) >> kPageShift, kDiscardAlways = (32 << 20) >> kPageShift;

Page& page(const ThreadHeap& heap, uint32_t index) { return heap.pool->pages.pages[index]; }

/// 0 if it cannot be.
uint32_t pages_for(const ThreadHeap& heap, size_t size) {
  return size <= heap.size ? static_cast<uint32_t>((size + kPageSize - 1) >> kPageShift) : 0;
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

/// Whether the memory of a big block is given back as it is freed; then the next of that size stays.
bool goes_back(PagePool& p, uint32_t pages) {
  if (pages <= kDiscardAtFirst || (pages <= p.unmapped && pages <= kDiscardAlways)) {
    p.longest = pages > p.longest ? pages : p.longest;
    return false;
  }
  p.unmapped = pages < kDiscardAlways ? pages : kDiscardAlways;
  return true;
}

/// Pages that were used, a block or the end of one. No other thread waits while memory goes back.
void free_pages(ThreadHeap& heap, uint32_t first, uint32_t pages, uint32_t of) {
  Pool& pool = *heap.pool;
  {
    Locked locked(pool, kPageLock);
    if (!goes_back(pool.pages, pages)) {
      __builtin_memset(&pool.kinds[first], kDirty, pages);
      return of ? cut_run(pool, of, first - of) : give_run(pool, first, pages, Freed::kLarge);
    }
  }
  discard_pages(pool, first, pages);
  Locked locked(pool, kPageLock);
  of ? cut_run(pool, of, first - of) : give_run(pool, first, pages, Freed::kLarge);
}

/// Longer or shorter where it is; false if that does not go.
bool resize_large(ThreadHeap& heap, uint32_t first, uint32_t pages) {
  Pool& pool = *heap.pool;
  uint32_t have = page(heap, first).pages;
  if (pages == have) return true;
  if (pages < have) {
    free_pages(heap, first + pages, have - pages, first);
    return true;
  }
  Locked locked(pool, kPageLock);
  return extend_run(pool, first, pages);
}

/// To a new place, with room to grow there: what is not used costs no memory.
void* move_large(ThreadHeap& heap, void* p, uint32_t pages) {
  Pool& pool = *heap.pool;
  uint32_t first = pool.page_of(p), have = page(heap, first).pages;
  void* moved = take_large(heap, pages + pages / 16, 1);
  if (!moved) moved = take_large(heap, pages, 1);
  if (!moved) return nullptr;
  size_t size = size_t{have} << kPageShift;
  if (size < kMoveAtLeast) {
    __builtin_memcpy(moved, p, size);
    free_large(heap, p);
    return moved;
  }
  if (pool.platform.move && pool.platform.move(pool.platform.context, pool.address(first),
                                               reinterpret_cast<uintptr_t>(moved), size)) {
    __builtin_memset(&pool.kinds[first], kClean, have);
  } else {
    __builtin_memcpy(moved, p, size);
    discard_pages(pool, first, have);
  }
  Locked locked(pool, kPageLock);
  give_run(pool, first, have, Freed::kLarge);
  return moved;
}

}  // namespace

void* allocate_large(ThreadHeap& heap, size_t size, size_t alignment) {
  uint32_t pages = pages_for(heap, size);
  if (!pages || alignment > heap.size) return nullptr;
  if (heap.large && alignment <= kPageSize)
    if (uint32_t first = heap.pool->page_of(heap.large); page(heap, first).pages == pages) {
      heap.pool->kinds[first] = kLarge;
      void* p = heap.large;
      heap.large = nullptr;
      return p;
    }
  return take_large(heap, pages, alignment <= kPageSize ? 1 : static_cast<uint32_t>(alignment >> kPageShift));
}

void free_large(ThreadHeap& heap, void* p) {
  uint32_t first = heap.pool->page_of(p), pages = page(heap, first).pages;
  if (pages > kDiscardAtFirst) return free_pages(heap, first, pages, 0);
  drop_large(heap);
  __builtin_memset(&heap.pool->kinds[first], kDirty, pages);
  page(heap, first).dirty = pages;
  heap.large = p;
}

void drop_large(ThreadHeap& heap) {
  if (!heap.large) return;
  uint32_t first = heap.pool->page_of(heap.large);
  heap.large = nullptr;
  free_pages(heap, first, page(heap, first).pages, 0);
}

void clear_large(ThreadHeap& heap, void* p, size_t size) {
  uint32_t first = heap.pool->page_of(p);
  if (page(heap, first).dirty == 0) return;
  for (size_t at = 0; at < size; at += kPageSize)
    if (at == 0 || heap.kinds[first + (at >> kPageShift)] != kClean)
      __builtin_memset(static_cast<char*>(p) + at, 0, size - at < kPageSize ? size - at : kPageSize);
}

void* realloc_large(ThreadHeap& heap, void* p, size_t size) {
  uint32_t pages = pages_for(heap, size);
  if (!pages) return nullptr;
  return resize_large(heap, heap.pool->page_of(p), pages) ? p : move_large(heap, p, pages);
}

size_t large_size(const ThreadHeap& heap, const void* p) {
  return size_t{page(heap, heap.pool->page_of(p)).pages} << kPageShift;
}

}  // namespace pastcone::heap

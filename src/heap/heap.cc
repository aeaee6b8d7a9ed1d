#include "heap.h"

namespace pastcone::heap {
namespace {

// Bytes of whole batches that a thread keeps, of all classes together.
constexpr size_t kKept = 48 << 10;

constexpr uint32_t kCutAtOnce = 4;  // blocks of a batch, or more

constexpr int kLooks = 16;  // among blocks that are there, for one that is aligned

size_t batch_size(unsigned c) { return size_t{kSizes[c].units} * kSizes[c].batch * kUnit; }

/// What a pointer is: kClean if it cannot come from here, kLarge, or kBlocks. `c`: then its class.
uint8_t kind_of(const ThreadHeap& heap, void* p, unsigned* c = nullptr) {
  uintptr_t offset = reinterpret_cast<uintptr_t>(p) - heap.base;
  if (offset >= heap.size || offset % kAlignment) return kClean;
  uint8_t kind = heap.kinds[offset >> kPageShift];
  if (kind == kLarge && offset % kPageSize == 0) return kLarge;
  if (kind != kBlocks) return kClean;
  unsigned found = class_by(p, header_of(p));
  if (c) *c = found;
  return found < kClasses ? kBlocks : kClean;
}

/// Where the thread allocates: where the fewest others do.
unsigned arena_of(ThreadHeap& heap) {
  if (heap.has_arena) return heap.arena;
  Pool& pool = *heap.pool;
  unsigned best = 0;
  {
    Locked locked(pool, kPageLock);
    for (unsigned i = 1; i < kArenas; ++i)
      if (pool.threads[i] < pool.threads[best]) best = i;
    ++pool.threads[best];
    ++pool.pages.users;
  }
  enter_arena(pool, best);
  heap.arena = best;
  heap.has_arena = true;
  return best;
}

void* move_block(ThreadHeap& heap, void* p, size_t have, size_t size) {
  void* moved = heap_malloc(heap, size);
  if (!moved) return nullptr;
  __builtin_memcpy(moved, p, have < size ? have : size);
  heap_free(heap, p);
  return moved;
}

/// A block from memory that is still to be cut.
char* cut_fresh(Supply& supply, unsigned c) {
  char* block = supply.fresh + sizeof(uint64_t);
  header_of(block) = header_for(block, kSizes[c].units, c);
  supply.fresh += kSizes[c].units * kUnit;
  return block;
}

/// If blocks are small, all of them at once: that is faster than one after the other.
void cut_all_fresh(Cache& cache, Supply& supply, unsigned c) {
  Block** last = &cache.list;
  for (; supply.fresh != supply.fresh_end; --cache.room, last = &(*last)->next)
    *last = reinterpret_cast<Block*>(cut_fresh(supply, c));
  *last = nullptr;
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
  heap.mapped = &pool.mapped;
  heap.kinds = pool.kinds;
  heap.pool = &pool;
  for (unsigned c = 0; c < kClasses; ++c) heap.caches[c].room = kSizes[c].most;
}

void heap_thread_end(ThreadHeap& heap) {
  Pool& pool = *heap.pool;
  drop_large(heap);
  for (unsigned c = 0; c < kClasses; ++c) {
    Cache& cache = heap.caches[c];
    Supply& supply = heap.supplies[c];
    while (Block* batch = supply.full) {
      supply.full = batch->next_batch;
      give_batch(pool, c, batch);
    }
    if (cache.list || supply.fresh != supply.fresh_end)
      give_blocks(pool, cache.list, supply.fresh, supply.fresh_end);
    cache = {nullptr, kSizes[c].most};
    supply = {};
  }
  heap.kept = 0;
  if (!heap.has_arena) return;
  heap.has_arena = false;
  leave_arena(pool, heap.arena);
  Locked locked(pool, kPageLock);
  --pool.threads[heap.arena];
  --pool.pages.users;
}

void heap_lock_all(Pool& pool) {
  for (unsigned lock = kLocks; lock--;) pool.platform.lock(pool.platform.context, lock);
}

void heap_unlock_all(Pool& pool) {
  for (unsigned lock = 0; lock < kLocks; ++lock) pool.platform.unlock(pool.platform.context, lock);
}

void heap_forked(ThreadHeap& heap) {
  Pool& pool = *heap.pool;
  for (unsigned i = 0; i < kArenas; ++i)
    pool.threads[i] = pool.arenas[i].threads = heap.has_arena && heap.arena == i;
  pool.pages.users = heap.has_arena;
}

void* allocate_more(ThreadHeap& heap, unsigned c, bool* zero) {
  Cache& cache = heap.caches[c];
  Supply& supply = heap.supplies[c];
  const SizeClass& size = kSizes[c];
  if (Block* batch = supply.full) {
    supply.full = batch->next_batch;
    cache = {batch, size.most - size.batch};
    heap.kept -= batch_size(c);
  } else if (supply.fresh == supply.fresh_end) {
    Blocks taken = take_blocks(*heap.pool, arena_of(heap), c);
    cache = {taken.list, size.most - taken.count};
    supply.fresh = taken.fresh;
    supply.fresh_end = taken.fresh_end;
    supply.fresh_is_zero = taken.zero;
    if (taken.fresh && size.batch >= kCutAtOnce) cut_all_fresh(cache, supply, c);
  }
  if (Block* block = cache.list) {
    cache.list = block->next;
    ++cache.room;
    return block;
  }
  if (!supply.fresh) return nullptr;
  if (zero) *zero = supply.fresh_is_zero;
  return cut_fresh(supply, c);
}

/// The list is full: a batch of it goes, and the rest stays for when the thread allocates again. So do some
/// batches.
void pass_on(ThreadHeap& heap, unsigned c) {
  Block *batch = heap.caches[c].list, *last = batch;
  for (uint32_t i = 1; i < kSizes[c].batch; ++i) last = last->next;
  heap.caches[c] = {last->next, kSizes[c].batch};
  last->next = nullptr;
  if (heap.kept + batch_size(c) > kKept) return give_batch(*heap.pool, c, batch);
  heap.kept += batch_size(c);
  batch->next_batch = heap.supplies[c].full;
  heap.supplies[c].full = batch;
}

void free_other(ThreadHeap& heap, void* p) {
  if (!p) return;
  unsigned c = 0;
  uint8_t kind = kind_of(heap, p, &c);
  if (kind == kLarge) return free_large(heap, p);
  Cache& cache = heap.caches[kind == kBlocks ? c : 0];
  if (kind == kBlocks && p == cache.list) return fail(heap, "double free or corruption (fasttop)");
  if (kind == kBlocks) {
    static_cast<Block*>(p)->next = cache.list;
    cache.list = static_cast<Block*>(p);
    if (--cache.room == 0) pass_on(heap, c);
    return;
  }
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
  unsigned c = 0;
  uint8_t kind = kind_of(heap, p, &c);
  if (kind == kClean) {
    fail(heap, "realloc(): invalid pointer");
    return nullptr;
  }
  if (kind == kLarge && size > kSmallMax) return realloc_large(heap, p, size);
  size_t have = heap_usable_size(heap, p);
  if (size <= have && ((kind == kBlocks && c == class_of(size)) || size > have / 2)) return p;
  return move_block(heap, p, have, size);
}

void* heap_memalign(ThreadHeap& heap, size_t alignment, size_t size) {
  if (alignment <= kAlignment) return heap_malloc(heap, size);
  if (size > kSmallMax || alignment > kPageSize || (alignment == kPageSize && size > kPageSize / 2))
    return allocate_large(heap, size ? size : 1, alignment);
  unsigned c = class_of(size);
  Block** place = &heap.caches[c].list;
  for (int i = 0; *place && i < kLooks; ++i, place = &(*place)->next)
    if (Block* block = *place; reinterpret_cast<uintptr_t>(block) % alignment == 0) {
      *place = block->next;
      ++heap.caches[c].room;
      return block;
    }
  return take_aligned(*heap.pool, arena_of(heap), c, alignment);
}

size_t heap_usable_size(const ThreadHeap& heap, void* p) {
  unsigned c = 0;
  uint8_t kind = kind_of(heap, p, &c);
  if (kind == kClean) return 0;
  if (kind == kLarge) return large_size(heap, p);
  return kSizes[c].size;
}

void heap_trim(ThreadHeap& heap) {
  heap_thread_end(heap);
  for (unsigned arena = 0; arena < kArenas; ++arena) drop_batches(*heap.pool, arena);
  discard_chunks(*heap.pool);
  Locked locked(*heap.pool, kPageLock);
  discard_dirty(*heap.pool, 0);
  forget_loops(*heap.pool);
}

}  // namespace pastcone::heap

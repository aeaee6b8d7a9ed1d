#include "process_heap.h"

#include "call.h"
#include "hooks.h"
#include "objects.h"
#include "text.h"

namespace pastcone::runtime {
namespace {

/// 0: free, 1: held, 2: held, and somebody may sleep.
struct PlainLock {
  u32 state;

  void acquire() {
    if (swap_if(state, 0u, 1u)) return;
    for (int i = 0; i < 50; ++i) {
      __builtin_ia32_pause();
      if (!load(state) && swap_if(state, 0u, 1u)) return;
    }
    while (__atomic_exchange_n(&state, 2u, __ATOMIC_ACQUIRE)) sys(__NR_futex, &state, kFutexWait | kFutexPrivate, 2, 0, 0, 0);
  }
  void release() {
    if (__atomic_exchange_n(&state, 0u, __ATOMIC_SEQ_CST) == 2) sys(__NR_futex, &state, kFutexWake | kFutexPrivate, 1, 0, 0, 0);
  }
};

struct alignas(64) HeapLock {
  ObjectState order;
  PlainLock lock;
};

HeapLock locks[heap::kLocks];
heap::Pool pool;

PlainLock threads_lock;
bool threads_begun;
heap::Pool threads_pool;
heap::ThreadHeap threads_heap;

/// Whose lock stream it goes to.
Thread& owner() { return *current().heap_owner; }
bool is_shared(Thread& t) { return t.process->shares_all; }

void lock(void*, unsigned number) {
  Thread& t = owner();
  HeapLock& l = locks[number];
  bool ordered = is_ordered(t, is_shared(t));
  if (!ordered || !g.replay) {
    l.lock.acquire();
    if (ordered) note_acquired(t, l.order, (u64)&l, is_shared(t));
    return;
  }
  Due due = next_operation_unsignalled(t, (u64)&l);
  if (!due.acquires()) diverge(t, Cause::kFlow, "the heap is used otherwise than recorded");
  t.object_kind = stage::ObjectKind::kHeap;
  take_in_order(t, l.order, (u64)&l, is_shared(t), due, l.lock.state);
  pass_point(current());
}

void unlock(void*, unsigned number) {
  HeapLock& l = locks[number];
  Thread& t = owner();
  bool replayed = g.replay && is_ordered(t, is_shared(t));
  if (replayed) index_release(current(), stage::ObjectKind::kHeap, (u64)&l, is_shared(t));
  l.lock.release();
  if (g.replay) announce_release(l.order, (u64)&l, is_shared(t));
  if (replayed) pass_point(current());
}

bool map_anonymous(u64 address, u64 size, int flags, long& result) {
  result = sys(__NR_mmap, address, size, kProtRead | kProtWrite, kMapPrivate | kMapAnonymous | kMapFixed | flags, -1, 0);
  return !is_error(result);
}

/// Whether there was memory is part of the recording. Tables may be larger than what the kernel would grant, blocks may not.
bool map(void*, uintptr_t address, size_t size) {
  Thread& t = owner();
  long result = 0;
  if (g.replay) {
    Due due = next_operation_unsignalled(t, address);
    count_operation(t);
    if (!due.predicted) return false;
    if (map_anonymous(address, size, kMapNoReserve, result)) return true;
    diverge(t, Cause::kMachine, "there is no memory for the heap", 0, result);
  }
  bool table = pool.pages.top && address < pool.address(pool.pages.begin);
  if (table) count_own_memory(*t.process, (i64)size);
  if (map_anonymous(address, size, table ? kMapNoReserve : 0, result)) count_operation(t);
  else note_result(t, result);
  return !is_error(result);
}

bool discard(void*, uintptr_t address, size_t size) {
  return !is_error(sys(__NR_madvise, address, size, 4));  // MADV_DONTNEED
}

bool move(void*, uintptr_t from, uintptr_t to, size_t size) {
  constexpr int kMayMove = 1, kFixed = 2, kDontUnmap = 4;
  return !is_error(sys(__NR_mremap, from, size, size, kMayMove | kFixed | kDontUnmap, to));
}

void populate(void*, uintptr_t address, size_t size) { sys(__NR_madvise, address, size, 23); }  // MADV_POPULATE_WRITE

void fail(void*, const char* message) {
  char line[96];
  Text(line, sizeof line) << message << "\n";
  call_original<void>(Hook::__libc_fatal, line);
}

void no_lock(void*, unsigned) {}
bool map_for_threads(void*, uintptr_t address, size_t size) {
  long result;
  return map_anonymous(address, size, kMapNoReserve, result);
}

/// The heap of what pthread_create allocates; used under its lock. Nothing if there is no memory.
heap::ThreadHeap* begin_threads_heap() {
  if (!threads_begun) {
    if (!heap::heap_init(threads_pool, {nullptr, no_lock, no_lock, map_for_threads, discard, nullptr, nullptr, fail}, kThreadsHeapBase,
                         kThreadsHeapSize))
      return nullptr;
    heap::heap_thread_begin(threads_heap, threads_pool);
    threads_begun = true;
  }
  return &threads_heap;
}

template <typename Function>
void* with_threads_heap(Function function) {
  threads_lock.acquire();
  heap::ThreadHeap* heap = begin_threads_heap();
  void* result = heap ? function(*heap) : nullptr;
  threads_lock.release();
  return result;
}

}  // namespace

bool begin_heap(Thread& t) {
  t.heap_owner = &t;
  if (!heap::heap_init(pool, {nullptr, lock, unlock, map, discard, move, populate, fail}, kHeapBase, kHeapSize)) return false;
  begin_thread_heap(t);
  return true;
}

void begin_thread_heap(Thread& t) {
  heap::heap_thread_begin(t.own_heap, pool);
  t.heap = &t.own_heap;
  t.heap_owner = &t;
}

void end_thread_heap(Thread& t) {
  if (t.heap == &t.own_heap) heap::heap_thread_end(t.own_heap);
}

void hold_heap() {
  heap::heap_lock_all(pool);
  threads_lock.acquire();
}

void release_heap() {
  threads_lock.release();
  heap::heap_unlock_all(pool);
}

void inherit_heap(Thread& t) {
  if (t.heap != &t.own_heap) t.own_heap = *t.heap;
  t.heap = &t.own_heap;
  t.heap_owner = &t;
  for (HeapLock& l : locks) l = {};
  threads_lock = {};
  heap::heap_forked(t.own_heap);
}

void share_heap(Thread& child, Thread& parent) {
  if (!child.process->vforked) return begin_thread_heap(child);
  child.heap = parent.heap;
  child.heap_owner = parent.heap_owner;
}

void* threads_calloc(size_t count, size_t size) {
  return with_threads_heap([&](heap::ThreadHeap& heap) { return heap::heap_calloc(heap, count, size); });
}

void* threads_realloc(void* p, size_t size) {
  return with_threads_heap([&](heap::ThreadHeap& heap) { return heap::heap_realloc(heap, p, size); });
}

void threads_free(void* p) {
  with_threads_heap([&](heap::ThreadHeap& heap) -> void* {
    heap::heap_free(heap, p);
    return nullptr;
  });
}

HeapUse heap_use() {
  heap::Locked locked(pool, heap::kPageLock);
  const heap::PagePool& pages = pool.pages;
  return {u64{pages.top - pages.begin} << heap::kPageShift, u64{pages.used} << heap::kPageShift};
}

}  // namespace pastcone::runtime

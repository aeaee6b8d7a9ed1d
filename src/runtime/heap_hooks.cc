// malloc and its like, as libc has them; reallocarray calls realloc by itself.
#include "hooks.h"
#include "process_heap.h"

namespace pastcone::runtime {
namespace {

constexpr int kNoMemory = 12;

[[gnu::noinline]] void* without_memory() {
  program_errno() = kNoMemory;
  return nullptr;
}

void* or_error(void* p) { return p ? p : without_memory(); }

// What is rare is called last, so that what is frequent needs no frame.
[[gnu::noinline]] void* malloc_slowly(size_t size) { return or_error(heap::heap_malloc(current_heap(), size)); }

[[gnu::noinline]] void free_other(void* p) {
  if (is_of_threads(p)) threads_free(p);
  else if (p) heap::heap_free(current_heap(), p);
}

bool is_power_of_two(size_t n) { return n && !(n & (n - 1)); }

void* allocate_aligned(size_t alignment, size_t size) {
  return or_error(heap::heap_memalign(current_heap(), alignment, size));
}

/// Both kinds that glibc has: with int, and with size_t.
template <typename Word>
struct Info {
  Word arena, ordblks, smblks, hblks, hblkhd, usmblks, fsmblks, uordblks, fordblks, keepcost;
};

template <typename Word>
Info<Word> info() {
  HeapUse use = heap_use();
  Info<Word> i{};
  i.arena = (Word)use.mapped;
  i.uordblks = (Word)use.used;
  i.fordblks = (Word)(use.mapped - use.used);
  return i;
}

}  // namespace

extern "C" {

void* hook_malloc(size_t size) {
  void* p = heap::heap_malloc_at_hand(current_heap(), size);
  if (p) [[likely]]
    return p;
  return malloc_slowly(size);
}

void hook_free(void* p) {
  if (!heap::heap_free_small(current_heap(), p)) [[unlikely]]
    free_other(p);
}

void* hook_calloc(size_t count, size_t size) {
  if (current().creating) [[unlikely]]
    return or_error(threads_calloc(count, size));
  return or_error(heap::heap_calloc(current_heap(), count, size));
}

void* hook_realloc(void* p, size_t size) {
  if (is_of_threads(p)) [[unlikely]] return or_error(threads_realloc(p, size));
  void* moved = heap::heap_realloc(current_heap(), p, size);
  return moved || (p && !size) ? moved : without_memory();
}

void* hook_memalign(size_t alignment, size_t size) {
  if (alignment > ~size_t{0} / 2 + 1) {
    program_errno() = kInvalid;
    return nullptr;
  }
  size_t power = heap::kAlignment;
  while (power < alignment) power <<= 1;
  return allocate_aligned(power, size);
}

/// Only where it is not the same function as memalign: from glibc 2.38 on.
void* hook_aligned_alloc(size_t alignment, size_t size) {
  if (is_power_of_two(alignment)) return hook_memalign(alignment, size);
  program_errno() = kInvalid;
  return nullptr;
}

int hook_posix_memalign(void** out, size_t alignment, size_t size) {
  if (alignment % sizeof(void*) || !is_power_of_two(alignment)) return kInvalid;
  void* p = heap::heap_memalign(current_heap(), alignment, size);
  if (!p) return kNoMemory;
  *out = p;
  return 0;
}

void* hook_valloc(size_t size) { return allocate_aligned(kPage, size); }
void* hook_pvalloc(size_t size) {
  return size > ~size_t{0} - kPage ? without_memory() : allocate_aligned(kPage, page_up(size));
}

size_t hook_malloc_usable_size(void* p) { return heap::heap_usable_size(current_heap(), p); }

int hook_malloc_trim(size_t) {
  heap::heap_trim(current_heap());
  return 1;
}

int hook_mallopt(int, int) { return 1; }  // there is nothing to be set
Info<int> hook_mallinfo() { return info<int>(); }
Info<size_t> hook_mallinfo2() { return info<size_t>(); }

}  // extern "C"
}  // namespace pastcone::runtime

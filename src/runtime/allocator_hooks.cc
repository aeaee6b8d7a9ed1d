// What allocators that take the place of libc's have beyond its functions: C++'s operators, and jemalloc's own. Their threads agree by
// atomic variables, so that their addresses would be others each time; ours are the same.
#include "hooks.h"
#include "process_heap.h"

namespace pastcone::runtime {

extern "C" {
void* hook_malloc(size_t size);
void* hook_memalign(size_t alignment, size_t size);
void* hook_realloc(void* p, size_t size);
void hook_free(void* p);
size_t hook_malloc_usable_size(void* p);
}

namespace {

[[gnu::noinline]] void* or_throw(void* p) {
  if (!p && originals[(u32)Hook::_ZSt17__throw_bad_allocv]) call_original<void>(Hook::_ZSt17__throw_bad_allocv);
  return p;
}

// jemalloc's flags.
constexpr int kAlignmentMask = 0x3f, kZero = 0x40;

void* allocate(size_t size, int flags) {
  int alignment = flags & kAlignmentMask;
  void* p = alignment ? hook_memalign(size_t{1} << alignment, size) : hook_malloc(size);
  if (p && flags & kZero) memset(p, 0, size);
  return p;
}

}  // namespace

extern "C" {

void* hook__Znwm(size_t size) {
  void* p = hook_malloc(size);
  return p ? p : or_throw(p);
}
void* hook__Znam(size_t size) {
  void* p = hook_malloc(size);
  return p ? p : or_throw(p);
}
void* hook__ZnwmRKSt9nothrow_t(size_t size, void*) { return hook_malloc(size); }
void* hook__ZnamRKSt9nothrow_t(size_t size, void*) { return hook_malloc(size); }
void* hook__ZnwmSt11align_val_t(size_t size, size_t alignment) { return or_throw(hook_memalign(alignment, size)); }
void* hook__ZnamSt11align_val_t(size_t size, size_t alignment) { return or_throw(hook_memalign(alignment, size)); }
void* hook__ZnwmSt11align_val_tRKSt9nothrow_t(size_t size, size_t alignment, void*) { return hook_memalign(alignment, size); }
void* hook__ZnamSt11align_val_tRKSt9nothrow_t(size_t size, size_t alignment, void*) { return hook_memalign(alignment, size); }

void hook__ZdlPv(void* p) { hook_free(p); }
void hook__ZdaPv(void* p) { hook_free(p); }
void hook__ZdlPvm(void* p, size_t) { hook_free(p); }
void hook__ZdaPvm(void* p, size_t) { hook_free(p); }
void hook__ZdlPvRKSt9nothrow_t(void* p, void*) { hook_free(p); }
void hook__ZdaPvRKSt9nothrow_t(void* p, void*) { hook_free(p); }
void hook__ZdlPvSt11align_val_t(void* p, size_t) { hook_free(p); }
void hook__ZdaPvSt11align_val_t(void* p, size_t) { hook_free(p); }
void hook__ZdlPvmSt11align_val_t(void* p, size_t, size_t) { hook_free(p); }
void hook__ZdaPvmSt11align_val_t(void* p, size_t, size_t) { hook_free(p); }
void hook__ZdlPvSt11align_val_tRKSt9nothrow_t(void* p, size_t, void*) { hook_free(p); }
void hook__ZdaPvSt11align_val_tRKSt9nothrow_t(void* p, size_t, void*) { hook_free(p); }

void* hook_mallocx(size_t size, int flags) { return allocate(size, flags); }
void* hook_rallocx(void* p, size_t size, int flags) {
  size_t before = hook_malloc_usable_size(p);
  if (!(flags & (kAlignmentMask | kZero))) return hook_realloc(p, size);
  void* moved = allocate(size, flags);
  if (!moved) return moved;
  memcpy(moved, p, min(before, size));
  hook_free(p);
  return moved;
}
/// It stays as it is.
size_t hook_xallocx(void* p, size_t, size_t, int) { return hook_malloc_usable_size(p); }
size_t hook_sallocx(void* p, int) { return hook_malloc_usable_size(p); }
void hook_dallocx(void* p, int) { hook_free(p); }
void hook_sdallocx(void* p, size_t, int) { hook_free(p); }
/// How large it would be.
size_t hook_nallocx(size_t size, int flags) {
  void* p = allocate(size, flags & kAlignmentMask);
  size_t usable = hook_malloc_usable_size(p);
  hook_free(p);
  return usable;
}

}  // extern "C"
}  // namespace pastcone::runtime

// The heap as a library to be preloaded, in the place of libc's malloc: for the benchmark, and to try it with
// any program.
#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "heap.h"

namespace {

using namespace pastcone::heap;

constexpr uintptr_t kBase = 0x100000000000;
constexpr size_t kSize = size_t{1} << 40;

struct alignas(64) Lock {
  int state;  // 0: free, 1: held, 2: held, and somebody may sleep
};
Lock locks[kLocks];

void lock(void*, unsigned number) {
  int& state = locks[number].state;
  int seen = 0;
  if (__atomic_compare_exchange_n(&state, &seen, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
  for (int i = 0; i < 50; ++i) {
    seen = 0;
    if (__atomic_compare_exchange_n(&state, &seen, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
    __builtin_ia32_pause();
  }
  while (__atomic_exchange_n(&state, 2, __ATOMIC_ACQUIRE))
    syscall(SYS_futex, &state, FUTEX_WAIT_PRIVATE, 2, nullptr, nullptr, 0);
}

void unlock(void*, unsigned number) {
  int& state = locks[number].state;
  if (__atomic_exchange_n(&state, 0, __ATOMIC_RELEASE) == 2)
    syscall(SYS_futex, &state, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
}

bool map(void*, uintptr_t address, size_t size) {
  return mmap(reinterpret_cast<void*>(address), size, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

bool discard(void*, uintptr_t address, size_t size) {
  return madvise(reinterpret_cast<void*>(address), size, MADV_DONTNEED) == 0;
}

bool move(void*, uintptr_t from, uintptr_t to, size_t size) {
  return mremap(reinterpret_cast<void*>(from), size, size, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
                reinterpret_cast<void*>(to)) != MAP_FAILED;
}

void populate(void*, uintptr_t address, size_t size) {
  madvise(reinterpret_cast<void*>(address), size, MADV_POPULATE_WRITE);
}

void stop(void*, const char* message) {
  if (write(2, message, strlen(message)) < 0 || write(2, "\n", 1) < 0) _exit(127);
  abort();
}

Pool pool;
pthread_key_t key;
pthread_once_t once = PTHREAD_ONCE_INIT;
__attribute__((tls_model("initial-exec"))) __thread ThreadHeap* current;
__attribute__((tls_model("initial-exec"))) __thread ThreadHeap own;

void end_thread(void*) {
  heap_thread_end(own);
  current = nullptr;  // other destructors may begin anew; then this one runs again
}

void begin_process() {
  if (!heap_init(pool, {nullptr, lock, unlock, map, discard, move, populate, stop}, kBase, kSize)) abort();
  pthread_key_create(&key, end_thread);
  pthread_atfork([] { heap_lock_all(pool); }, [] { heap_unlock_all(pool); },
                 [] {
                   heap_unlock_all(pool);
                   if (current) heap_forked(*current);
                 });
}

__attribute__((noinline)) ThreadHeap& begin_thread() {
  pthread_once(&once, begin_process);
  heap_thread_begin(own, pool);
  current = &own;
  pthread_setspecific(key, &own);
  return own;
}

ThreadHeap& mine() {
  ThreadHeap* heap = current;
  return heap ? *heap : begin_thread();
}

void* or_enomem(void* p) {
  if (!p) errno = ENOMEM;
  return p;
}

__attribute__((noinline)) void* malloc_slowly(size_t size) { return or_enomem(heap_malloc(mine(), size)); }

bool is_power_of_two(size_t n) { return n && !(n & (n - 1)); }

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void* malloc(size_t size) {
  void* p = current ? heap_malloc_at_hand(*current, size) : nullptr;
  if (p) [[likely]]
    return p;
  return malloc_slowly(size);
}
EXPORT void free(void* p) {
  if (!current || !heap_free_small(*current, p)) [[unlikely]]
    heap_free(mine(), p);
}
EXPORT void* calloc(size_t count, size_t size) { return or_enomem(heap_calloc(mine(), count, size)); }
EXPORT void* realloc(void* p, size_t size) {
  void* moved = heap_realloc(mine(), p, size);
  return moved || (p && !size) ? moved : or_enomem(nullptr);
}
EXPORT void* reallocarray(void* p, size_t count, size_t size) {
  if (__builtin_mul_overflow(count, size, &size)) return or_enomem(nullptr);
  return realloc(p, size);
}
EXPORT void* memalign(size_t alignment, size_t size) {
  size_t power = kAlignment;
  while (power < alignment && power << 1) power <<= 1;
  return or_enomem(heap_memalign(mine(), power, size));
}
EXPORT void* aligned_alloc(size_t alignment, size_t size) {
  if (is_power_of_two(alignment)) return memalign(alignment, size);
  errno = EINVAL;
  return nullptr;
}
EXPORT int posix_memalign(void** out, size_t alignment, size_t size) {
  if (alignment % sizeof(void*) || !is_power_of_two(alignment)) return EINVAL;
  void* p = heap_memalign(mine(), alignment, size);
  if (!p) return ENOMEM;
  *out = p;
  return 0;
}
EXPORT void* valloc(size_t size) { return memalign(4096, size); }
EXPORT void* pvalloc(size_t size) {
  if (size > SIZE_MAX - 4095) return or_enomem(nullptr);
  return memalign(4096, (size + 4095) & ~size_t{4095});
}
EXPORT size_t malloc_usable_size(void* p) { return heap_usable_size(mine(), p); }
EXPORT int malloc_trim(size_t) {
  heap_trim(mine());
  return 1;
}

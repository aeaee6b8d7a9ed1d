// Functions of libraries that the runtime takes over where order matters that no system call shows: locks, and memory that
// must have the same addresses again. Freestanding: the runtime includes it, and has a function for each.
#pragma once

#include <cstdint>

// X(name, library, use): the library is known by a symbol that no other has. Those that are replaced are never called as they
// were, so what stands at their start need not be kept; those that are called are left as they are.
#define PASTCONE_HOOKS(X)                             \
  X(pthread_mutex_lock, kLibc, kWrapped)              \
  X(pthread_mutex_trylock, kLibc, kWrapped)           \
  X(pthread_mutex_timedlock, kLibc, kWrapped)         \
  X(pthread_mutex_clocklock, kLibc, kWrapped)         \
  X(pthread_mutex_unlock, kLibc, kWrapped)            \
  X(pthread_mutex_init, kLibc, kWrapped)              \
  X(pthread_mutex_destroy, kLibc, kWrapped)           \
  X(pthread_mutex_consistent, kLibc, kWrapped)        \
  X(pthread_cond_wait, kLibc, kWrapped)               \
  X(pthread_cond_timedwait, kLibc, kWrapped)          \
  X(pthread_cond_clockwait, kLibc, kWrapped)          \
  X(pthread_cond_signal, kLibc, kWrapped)             \
  X(pthread_cond_broadcast, kLibc, kWrapped)          \
  X(pthread_cond_destroy, kLibc, kWrapped)            \
  X(pthread_rwlock_rdlock, kLibc, kWrapped)           \
  X(pthread_rwlock_tryrdlock, kLibc, kReplaced)       \
  X(pthread_rwlock_timedrdlock, kLibc, kWrapped)      \
  X(pthread_rwlock_clockrdlock, kLibc, kWrapped)      \
  X(pthread_rwlock_wrlock, kLibc, kWrapped)           \
  X(pthread_rwlock_trywrlock, kLibc, kWrapped)        \
  X(pthread_rwlock_timedwrlock, kLibc, kWrapped)      \
  X(pthread_rwlock_clockwrlock, kLibc, kWrapped)      \
  X(pthread_rwlock_unlock, kLibc, kWrapped)           \
  X(pthread_rwlock_init, kLibc, kWrapped)             \
  X(pthread_rwlock_destroy, kLibc, kReplaced)         \
  X(sem_init, kLibc, kWrapped)                        \
  X(sem_destroy, kLibc, kReplaced)                    \
  X(sem_post, kLibc, kWrapped)                        \
  X(sem_wait, kLibc, kReplaced)                       \
  X(sem_trywait, kLibc, kReplaced)                    \
  X(sem_timedwait, kLibc, kWrapped)                   \
  X(sem_clockwait, kLibc, kWrapped)                   \
  X(sem_getvalue, kLibc, kWrapped)                    \
  X(pthread_barrier_init, kLibc, kWrapped)            \
  X(pthread_barrier_wait, kLibc, kWrapped)            \
  X(pthread_barrier_destroy, kLibc, kWrapped)         \
  X(pthread_spin_lock, kLibc, kReplaced)              \
  X(pthread_spin_trylock, kLibc, kReplaced)           \
  X(pthread_spin_unlock, kLibc, kReplaced)            \
  X(pthread_once, kLibc, kWrapped)                    \
  X(pthread_create, kLibc, kWrapped)                  \
  X(pthread_join, kLibc, kWrapped)                    \
  X(pthread_tryjoin_np, kLibc, kWrapped)              \
  X(pthread_timedjoin_np, kLibc, kWrapped)            \
  X(pthread_clockjoin_np, kLibc, kWrapped)            \
  X(pthread_cancel, kLibc, kWrapped)                  \
  X(malloc, kLibc, kReplaced)                         \
  X(free, kLibc, kReplaced)                           \
  X(calloc, kLibc, kReplaced)                         \
  X(realloc, kLibc, kReplaced)                        \
  X(memalign, kLibc, kReplaced)                       \
  X(aligned_alloc, kLibc, kReplaced)                  \
  X(posix_memalign, kLibc, kReplaced)                 \
  X(valloc, kLibc, kReplaced)                         \
  X(pvalloc, kLibc, kReplaced)                        \
  X(malloc_usable_size, kLibc, kReplaced)             \
  X(malloc_trim, kLibc, kReplaced)                    \
  X(mallopt, kLibc, kReplaced)                        \
  X(mallinfo, kLibc, kReplaced)                       \
  X(mallinfo2, kLibc, kReplaced)                      \
  X(__libc_fatal, kLibc, kCalled)                     \
  X(__errno_location, kLibc, kCalled)                 \
  X(__cxa_guard_acquire, kLibstdcxx, kWrapped)        \
  X(__cxa_guard_release, kLibstdcxx, kWrapped)        \
  X(__cxa_guard_abort, kLibstdcxx, kWrapped)

namespace pastcone::patch {

enum class Hook : uint32_t {
#define X(name, library, use) name,
  PASTCONE_HOOKS(X)
#undef X
  kCount,
};

}  // namespace pastcone::patch

// Functions of libraries that the runtime takes over where order matters that no system call shows: locks, and memory that
// must have the same addresses again. Freestanding: the runtime includes it, and has a function for each.
#pragma once

#include <cstdint>

// X(name, library, use): the library is known by a symbol that no other has. Those that are replaced are never called as they
// were, so what stands at their start need not be kept; those that are called are left as they are. Of data only the address is
// wanted.
#define PASTCONE_THREAD_HOOKS(X)                      \
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
  X(pthread_detach, kLibc, kWrapped)                  \
  X(pthread_join, kLibc, kWrapped)                    \
  X(pthread_tryjoin_np, kLibc, kWrapped)              \
  X(pthread_timedjoin_np, kLibc, kWrapped)            \
  X(pthread_clockjoin_np, kLibc, kWrapped)            \
  X(pthread_cancel, kLibc, kWrapped)                  \
  X(_dl_find_object, kLibc, kWrapped)                 \
  X(fork, kLibc, kWrapped)                            \
  X(random, kLibc, kWrapped)                          \
  X(srandom, kLibc, kWrapped)                         \
  X(localtime, kLibc, kWrapped)                       \
  X(localtime_r, kLibc, kWrapped)                     \
  X(tzset, kLibc, kWrapped)                           \
  X(pthread_exit, kLibc, kCalled)                     \
  X(pthread_setcanceltype, kLibc, kCalled)            \
  X(pthread_testcancel, kLibc, kCalled)               \
  X(tgkill, kLibc, kCalled)                           \
  X(syscall, kLibc, kCalled)                          \
  X(__libc_fatal, kLibc, kCalled)                     \
  X(__errno_location, kLibc, kCalled)                 \
  X(__cxa_guard_acquire, kLibstdcxx, kWrapped)        \
  X(__cxa_guard_release, kLibstdcxx, kWrapped)        \
  X(__cxa_guard_abort, kLibstdcxx, kWrapped)

// Memory, of libc and of what takes its place (jemalloc, tcmalloc), which has C++'s operators of its own.
#define PASTCONE_HEAP_HOOKS(X)                                  \
  X(malloc, kHeap, kReplaced)                                   \
  X(free, kHeap, kReplaced)                                     \
  X(calloc, kHeap, kReplaced)                                   \
  X(realloc, kHeap, kReplaced)                                  \
  X(memalign, kHeap, kReplaced)                                 \
  X(aligned_alloc, kHeap, kReplaced)                            \
  X(posix_memalign, kHeap, kReplaced)                           \
  X(valloc, kHeap, kReplaced)                                   \
  X(pvalloc, kHeap, kReplaced)                                  \
  X(malloc_usable_size, kHeap, kReplaced)                       \
  X(malloc_trim, kHeap, kReplaced)                              \
  X(mallopt, kHeap, kReplaced)                                  \
  X(mallinfo, kHeap, kReplaced)                                 \
  X(mallinfo2, kHeap, kReplaced)                                \
  X(_Znwm, kAllocator, kReplaced)                               \
  X(_Znam, kAllocator, kReplaced)                               \
  X(_ZnwmRKSt9nothrow_t, kAllocator, kReplaced)                 \
  X(_ZnamRKSt9nothrow_t, kAllocator, kReplaced)                 \
  X(_ZnwmSt11align_val_t, kAllocator, kReplaced)                \
  X(_ZnamSt11align_val_t, kAllocator, kReplaced)                \
  X(_ZnwmSt11align_val_tRKSt9nothrow_t, kAllocator, kReplaced)  \
  X(_ZnamSt11align_val_tRKSt9nothrow_t, kAllocator, kReplaced)  \
  X(_ZdlPv, kAllocator, kReplaced)                              \
  X(_ZdaPv, kAllocator, kReplaced)                              \
  X(_ZdlPvm, kAllocator, kReplaced)                             \
  X(_ZdaPvm, kAllocator, kReplaced)                             \
  X(_ZdlPvRKSt9nothrow_t, kAllocator, kReplaced)                \
  X(_ZdaPvRKSt9nothrow_t, kAllocator, kReplaced)                \
  X(_ZdlPvSt11align_val_t, kAllocator, kReplaced)               \
  X(_ZdaPvSt11align_val_t, kAllocator, kReplaced)               \
  X(_ZdlPvmSt11align_val_t, kAllocator, kReplaced)              \
  X(_ZdaPvmSt11align_val_t, kAllocator, kReplaced)              \
  X(_ZdlPvSt11align_val_tRKSt9nothrow_t, kAllocator, kReplaced) \
  X(_ZdaPvSt11align_val_tRKSt9nothrow_t, kAllocator, kReplaced) \
  X(mallocx, kAllocator, kReplaced)                             \
  X(rallocx, kAllocator, kReplaced)                             \
  X(xallocx, kAllocator, kReplaced)                             \
  X(sallocx, kAllocator, kReplaced)                             \
  X(dallocx, kAllocator, kReplaced)                             \
  X(sdallocx, kAllocator, kReplaced)                            \
  X(nallocx, kAllocator, kReplaced)                             \
  X(_ZSt17__throw_bad_allocv, kLibstdcxx, kCalled)

// Streams, whose locks are inlined. Of several names of one function the first counts.
#define PASTCONE_STDIO_HOOKS(X)            \
  X(printf, kLibc, kWrapped)               \
  X(fprintf, kLibc, kWrapped)              \
  X(vprintf, kLibc, kWrapped)              \
  X(vfprintf, kLibc, kWrapped)             \
  X(__printf_chk, kLibc, kWrapped)         \
  X(__fprintf_chk, kLibc, kWrapped)        \
  X(__vprintf_chk, kLibc, kWrapped)        \
  X(__vfprintf_chk, kLibc, kWrapped)       \
  X(puts, kLibc, kWrapped)                 \
  X(fputs, kLibc, kWrapped)                \
  X(fputc, kLibc, kWrapped)                \
  X(putc, kLibc, kWrapped)                 \
  X(putchar, kLibc, kWrapped)              \
  X(fwrite, kLibc, kWrapped)               \
  X(perror, kLibc, kWrapped)               \
  X(scanf, kLibc, kWrapped)                \
  X(fscanf, kLibc, kWrapped)               \
  X(vscanf, kLibc, kWrapped)               \
  X(vfscanf, kLibc, kWrapped)              \
  X(__isoc99_scanf, kLibc, kWrapped)       \
  X(__isoc99_fscanf, kLibc, kWrapped)      \
  X(__isoc99_vscanf, kLibc, kWrapped)      \
  X(__isoc99_vfscanf, kLibc, kWrapped)     \
  X(__isoc23_scanf, kLibc, kWrapped)       \
  X(__isoc23_fscanf, kLibc, kWrapped)      \
  X(__isoc23_vscanf, kLibc, kWrapped)      \
  X(__isoc23_vfscanf, kLibc, kWrapped)     \
  X(fgets, kLibc, kWrapped)                \
  X(__fgets_chk, kLibc, kWrapped)          \
  X(fgetc, kLibc, kWrapped)                \
  X(getc, kLibc, kWrapped)                 \
  X(getchar, kLibc, kWrapped)              \
  X(ungetc, kLibc, kWrapped)               \
  X(getdelim, kLibc, kWrapped)             \
  X(getline, kLibc, kWrapped)              \
  X(fread, kLibc, kWrapped)                \
  X(__fread_chk, kLibc, kWrapped)          \
  X(wprintf, kLibc, kWrapped)              \
  X(fwprintf, kLibc, kWrapped)             \
  X(vwprintf, kLibc, kWrapped)             \
  X(vfwprintf, kLibc, kWrapped)            \
  X(__wprintf_chk, kLibc, kWrapped)        \
  X(__fwprintf_chk, kLibc, kWrapped)       \
  X(__vwprintf_chk, kLibc, kWrapped)       \
  X(__vfwprintf_chk, kLibc, kWrapped)      \
  X(fputwc, kLibc, kWrapped)               \
  X(putwc, kLibc, kWrapped)                \
  X(putwchar, kLibc, kWrapped)             \
  X(fputws, kLibc, kWrapped)               \
  X(fgetwc, kLibc, kWrapped)               \
  X(getwc, kLibc, kWrapped)                \
  X(getwchar, kLibc, kWrapped)             \
  X(fgetws, kLibc, kWrapped)               \
  X(__fgetws_chk, kLibc, kWrapped)         \
  X(ungetwc, kLibc, kWrapped)              \
  X(fflush, kLibc, kWrapped)               \
  X(fclose, kLibc, kWrapped)               \
  X(pclose, kLibc, kWrapped)               \
  X(freopen, kLibc, kWrapped)              \
  X(freopen64, kLibc, kWrapped)            \
  X(fseek, kLibc, kWrapped)                \
  X(fseeko, kLibc, kWrapped)               \
  X(ftell, kLibc, kWrapped)                \
  X(ftello, kLibc, kWrapped)               \
  X(rewind, kLibc, kWrapped)               \
  X(fgetpos, kLibc, kWrapped)              \
  X(fsetpos, kLibc, kWrapped)              \
  X(setvbuf, kLibc, kWrapped)              \
  X(setbuf, kLibc, kWrapped)               \
  X(setbuffer, kLibc, kWrapped)            \
  X(setlinebuf, kLibc, kWrapped)           \
  X(feof, kLibc, kWrapped)                 \
  X(ferror, kLibc, kWrapped)               \
  X(clearerr, kLibc, kWrapped)             \
  X(flockfile, kLibc, kWrapped)            \
  X(ftrylockfile, kLibc, kWrapped)         \
  X(funlockfile, kLibc, kWrapped)          \
  X(_pthread_cleanup_push, kLibc, kCalled) \
  X(_pthread_cleanup_pop, kLibc, kCalled)  \
  X(_IO_2_1_stdin_, kLibc, kData)          \
  X(_IO_2_1_stdout_, kLibc, kData)         \
  X(_IO_2_1_stderr_, kLibc, kData)

// OpenMP, as GCC calls it. Its nonmonotonic loops are the same functions as the others.
#define PASTCONE_OPENMP_HOOKS(X)                                        \
  X(GOMP_critical_start, kLibgomp, kWrapped)                            \
  X(GOMP_critical_end, kLibgomp, kWrapped)                              \
  X(GOMP_critical_name_start, kLibgomp, kWrapped)                       \
  X(GOMP_critical_name_end, kLibgomp, kWrapped)                         \
  X(GOMP_atomic_start, kLibgomp, kWrapped)                              \
  X(GOMP_atomic_end, kLibgomp, kWrapped)                                \
  X(omp_set_lock, kLibgomp, kWrapped)                                   \
  X(omp_unset_lock, kLibgomp, kWrapped)                                 \
  X(omp_test_lock, kLibgomp, kWrapped)                                  \
  X(omp_set_nest_lock, kLibgomp, kWrapped)                              \
  X(omp_unset_nest_lock, kLibgomp, kWrapped)                            \
  X(omp_test_nest_lock, kLibgomp, kWrapped)                             \
  X(GOMP_loop_static_start, kLibgomp, kWrapped)                         \
  X(GOMP_loop_dynamic_start, kLibgomp, kWrapped)                        \
  X(GOMP_loop_guided_start, kLibgomp, kWrapped)                         \
  X(GOMP_loop_runtime_start, kLibgomp, kWrapped)                        \
  X(GOMP_loop_dynamic_next, kLibgomp, kWrapped)                         \
  X(GOMP_loop_guided_next, kLibgomp, kWrapped)                          \
  X(GOMP_loop_runtime_next, kLibgomp, kWrapped)                         \
  X(GOMP_loop_start, kLibgomp, kWrapped)                                \
  X(GOMP_loop_ordered_static_start, kLibgomp, kWrapped)                 \
  X(GOMP_loop_ordered_dynamic_start, kLibgomp, kWrapped)                \
  X(GOMP_loop_ordered_guided_start, kLibgomp, kWrapped)                 \
  X(GOMP_loop_ordered_runtime_start, kLibgomp, kWrapped)                \
  X(GOMP_loop_ordered_start, kLibgomp, kWrapped)                        \
  X(GOMP_loop_ordered_dynamic_next, kLibgomp, kWrapped)                 \
  X(GOMP_loop_ordered_guided_next, kLibgomp, kWrapped)                  \
  X(GOMP_loop_ordered_runtime_next, kLibgomp, kWrapped)                 \
  X(GOMP_loop_doacross_static_start, kLibgomp, kWrapped)                \
  X(GOMP_loop_doacross_dynamic_start, kLibgomp, kWrapped)               \
  X(GOMP_loop_doacross_guided_start, kLibgomp, kWrapped)                \
  X(GOMP_loop_doacross_runtime_start, kLibgomp, kWrapped)               \
  X(GOMP_loop_doacross_start, kLibgomp, kWrapped)                       \
  X(GOMP_loop_ull_static_start, kLibgomp, kWrapped)                     \
  X(GOMP_loop_ull_dynamic_start, kLibgomp, kWrapped)                    \
  X(GOMP_loop_ull_guided_start, kLibgomp, kWrapped)                     \
  X(GOMP_loop_ull_runtime_start, kLibgomp, kWrapped)                    \
  X(GOMP_loop_ull_dynamic_next, kLibgomp, kWrapped)                     \
  X(GOMP_loop_ull_guided_next, kLibgomp, kWrapped)                      \
  X(GOMP_loop_ull_runtime_next, kLibgomp, kWrapped)                     \
  X(GOMP_loop_ull_start, kLibgomp, kWrapped)                            \
  X(GOMP_loop_ull_ordered_static_start, kLibgomp, kWrapped)             \
  X(GOMP_loop_ull_ordered_dynamic_start, kLibgomp, kWrapped)            \
  X(GOMP_loop_ull_ordered_guided_start, kLibgomp, kWrapped)             \
  X(GOMP_loop_ull_ordered_runtime_start, kLibgomp, kWrapped)            \
  X(GOMP_loop_ull_ordered_start, kLibgomp, kWrapped)                    \
  X(GOMP_loop_ull_ordered_dynamic_next, kLibgomp, kWrapped)             \
  X(GOMP_loop_ull_ordered_guided_next, kLibgomp, kWrapped)              \
  X(GOMP_loop_ull_ordered_runtime_next, kLibgomp, kWrapped)             \
  X(GOMP_loop_ull_doacross_static_start, kLibgomp, kWrapped)            \
  X(GOMP_loop_ull_doacross_dynamic_start, kLibgomp, kWrapped)           \
  X(GOMP_loop_ull_doacross_guided_start, kLibgomp, kWrapped)            \
  X(GOMP_loop_ull_doacross_runtime_start, kLibgomp, kWrapped)           \
  X(GOMP_loop_ull_doacross_start, kLibgomp, kWrapped)                   \
  X(GOMP_sections_start, kLibgomp, kWrapped)                            \
  X(GOMP_sections2_start, kLibgomp, kWrapped)                           \
  X(GOMP_sections_next, kLibgomp, kWrapped)                             \
  X(GOMP_scope_start, kLibgomp, kWrapped)                               \
  X(GOMP_single_start, kLibgomp, kWrapped)                              \
  X(GOMP_single_copy_start, kLibgomp, kWrapped)                         \
  X(GOMP_single_copy_end, kLibgomp, kWrapped)                           \
  X(GOMP_task, kLibgomp, kWrapped)                                      \
  X(GOMP_taskloop, kLibgomp, kWrapped)                                  \
  X(GOMP_taskloop_ull, kLibgomp, kWrapped)                              \
  X(GOMP_ordered_start, kLibgomp, kCalled)

#define PASTCONE_HOOKS(X)   \
  PASTCONE_THREAD_HOOKS(X)  \
  PASTCONE_HEAP_HOOKS(X)    \
  PASTCONE_STDIO_HOOKS(X)   \
  PASTCONE_OPENMP_HOOKS(X)

namespace pastcone::patch {

enum class Hook : uint32_t {
#define X(name, library, use) name,
  PASTCONE_HOOKS(X)
#undef X
  kCount,
};

}  // namespace pastcone::patch

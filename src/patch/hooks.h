// Functions of libraries that the runtime takes over where order matters that no system call shows: locks, and memory that
// must have the same addresses again. Freestanding: the runtime includes it, and has a function for each.
#pragma once

#include <cstdint>

// X(name, library, use): the library is known by a symbol that no other has. Those that are replaced are never called as they
// were, so what stands at their start need not be kept; those that are called are left as they are. Of data only the address is
// wanted. Where those that are optional cannot be wrapped, their order is not known; the others are needed.
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
  X(pthread_getattr_np, kLibc, kWrapped)              \
  X(pthread_join, kLibc, kWrapped)                    \
  X(pthread_tryjoin_np, kLibc, kWrapped)              \
  X(pthread_timedjoin_np, kLibc, kWrapped)            \
  X(pthread_clockjoin_np, kLibc, kWrapped)            \
  X(pthread_cancel, kLibc, kWrapped)                  \
  X(pthread_exit, kLibc, kWrapped)                    \
  X(_dl_find_object, kLibc, kWrapped)                 \
  X(fork, kLibc, kWrapped)                            \
  X(__register_atfork, kLibc, kWrapped)               \
  X(pthread_getattr_default_np, kLibc, kCalled)       \
  X(pthread_setcanceltype, kLibc, kCalled)            \
  X(pthread_testcancel, kLibc, kCalled)               \
  X(tgkill, kLibc, kCalled)                           \
  X(syscall, kLibc, kCalled)                          \
  X(__libc_fatal, kLibc, kCalled)                     \
  X(__errno_location, kLibc, kCalled)                 \
  X(__cxa_guard_acquire, kLibstdcxx, kWrapped)        \
  X(__cxa_guard_release, kLibstdcxx, kWrapped)        \
  X(__cxa_guard_abort, kLibstdcxx, kWrapped)

// Functions that have a lock of their own, inlined. See inner_locks.cc.
#define PASTCONE_INNER_HOOKS(X)            \
  X(localtime, kLibc, kOptional)           \
  X(localtime_r, kLibc, kOptional)         \
  X(gmtime, kLibc, kOptional)              \
  X(gmtime_r, kLibc, kOptional)            \
  X(mktime, kLibc, kOptional)              \
  X(tzset, kLibc, kOptional)               \
  X(random, kLibc, kOptional)              \
  X(srandom, kLibc, kOptional)             \
  X(__cxa_atexit, kLibc, kOptional)        \
  X(__cxa_at_quick_exit, kLibc, kOptional) \
  X(on_exit, kLibc, kOptional)             \
  X(openlog, kLibc, kOptional)             \
  X(closelog, kLibc, kOptional)            \
  X(setlogmask, kLibc, kOptional)          \
  X(vsyslog, kLibc, kOptional)             \
  X(__vsyslog_chk, kLibc, kOptional)       \
  X(syslog, kLibc, kOptional)              \
  X(__syslog_chk, kLibc, kOptional)        \
  X(getpwnam, kLibc, kOptional)            \
  X(getpwnam_r, kLibc, kOptional)          \
  X(getpwuid, kLibc, kOptional)            \
  X(getpwuid_r, kLibc, kOptional)          \
  X(getpwent, kLibc, kOptional)            \
  X(getpwent_r, kLibc, kOptional)          \
  X(setpwent, kLibc, kOptional)            \
  X(endpwent, kLibc, kOptional)            \
  X(getgrnam, kLibc, kOptional)            \
  X(getgrnam_r, kLibc, kOptional)          \
  X(getgrgid, kLibc, kOptional)            \
  X(getgrgid_r, kLibc, kOptional)          \
  X(getgrent, kLibc, kOptional)            \
  X(getgrent_r, kLibc, kOptional)          \
  X(setgrent, kLibc, kOptional)            \
  X(endgrent, kLibc, kOptional)            \
  X(initgroups, kLibc, kOptional)          \
  X(getgrouplist, kLibc, kOptional)        \
  X(getservbyname, kLibc, kOptional)       \
  X(getservbyname_r, kLibc, kOptional)     \
  X(getservbyport, kLibc, kOptional)       \
  X(getservbyport_r, kLibc, kOptional)     \
  X(getprotobyname, kLibc, kOptional)      \
  X(getprotobyname_r, kLibc, kOptional)    \
  X(getprotobynumber, kLibc, kOptional)    \
  X(getprotobynumber_r, kLibc, kOptional)

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
  X(printf, kLibc, kOptional)              \
  X(fprintf, kLibc, kOptional)             \
  X(vprintf, kLibc, kOptional)             \
  X(vfprintf, kLibc, kOptional)            \
  X(__printf_chk, kLibc, kOptional)        \
  X(__fprintf_chk, kLibc, kOptional)       \
  X(__vprintf_chk, kLibc, kOptional)       \
  X(__vfprintf_chk, kLibc, kOptional)      \
  X(puts, kLibc, kOptional)                \
  X(fputs, kLibc, kOptional)               \
  X(fputc, kLibc, kOptional)               \
  X(putc, kLibc, kOptional)                \
  X(putchar, kLibc, kOptional)             \
  X(fwrite, kLibc, kOptional)              \
  X(perror, kLibc, kOptional)              \
  X(scanf, kLibc, kOptional)               \
  X(fscanf, kLibc, kOptional)              \
  X(vscanf, kLibc, kOptional)              \
  X(vfscanf, kLibc, kOptional)             \
  X(__isoc99_scanf, kLibc, kOptional)      \
  X(__isoc99_fscanf, kLibc, kOptional)     \
  X(__isoc99_vscanf, kLibc, kOptional)     \
  X(__isoc99_vfscanf, kLibc, kOptional)    \
  X(__isoc23_scanf, kLibc, kOptional)      \
  X(__isoc23_fscanf, kLibc, kOptional)     \
  X(__isoc23_vscanf, kLibc, kOptional)     \
  X(__isoc23_vfscanf, kLibc, kOptional)    \
  X(fgets, kLibc, kOptional)               \
  X(__fgets_chk, kLibc, kOptional)         \
  X(fgetc, kLibc, kOptional)               \
  X(getc, kLibc, kOptional)                \
  X(getchar, kLibc, kOptional)             \
  X(ungetc, kLibc, kOptional)              \
  X(getdelim, kLibc, kOptional)            \
  X(getline, kLibc, kOptional)             \
  X(fread, kLibc, kOptional)               \
  X(__fread_chk, kLibc, kOptional)         \
  X(wprintf, kLibc, kOptional)             \
  X(fwprintf, kLibc, kOptional)            \
  X(vwprintf, kLibc, kOptional)            \
  X(vfwprintf, kLibc, kOptional)           \
  X(__wprintf_chk, kLibc, kOptional)       \
  X(__fwprintf_chk, kLibc, kOptional)      \
  X(__vwprintf_chk, kLibc, kOptional)      \
  X(__vfwprintf_chk, kLibc, kOptional)     \
  X(fputwc, kLibc, kOptional)              \
  X(putwc, kLibc, kOptional)               \
  X(putwchar, kLibc, kOptional)            \
  X(fputws, kLibc, kOptional)              \
  X(fgetwc, kLibc, kOptional)              \
  X(getwc, kLibc, kOptional)               \
  X(getwchar, kLibc, kOptional)            \
  X(fgetws, kLibc, kOptional)              \
  X(__fgetws_chk, kLibc, kOptional)        \
  X(ungetwc, kLibc, kOptional)             \
  X(fflush, kLibc, kOptional)              \
  X(fclose, kLibc, kOptional)              \
  X(pclose, kLibc, kOptional)              \
  X(freopen, kLibc, kOptional)             \
  X(freopen64, kLibc, kOptional)           \
  X(fseek, kLibc, kOptional)               \
  X(fseeko, kLibc, kOptional)              \
  X(ftell, kLibc, kOptional)               \
  X(ftello, kLibc, kOptional)              \
  X(rewind, kLibc, kOptional)              \
  X(fgetpos, kLibc, kOptional)             \
  X(fsetpos, kLibc, kOptional)             \
  X(setvbuf, kLibc, kOptional)             \
  X(setbuf, kLibc, kOptional)              \
  X(setbuffer, kLibc, kOptional)           \
  X(setlinebuf, kLibc, kOptional)          \
  X(feof, kLibc, kOptional)                \
  X(ferror, kLibc, kOptional)              \
  X(clearerr, kLibc, kOptional)            \
  X(flockfile, kLibc, kOptional)           \
  X(ftrylockfile, kLibc, kOptional)        \
  X(funlockfile, kLibc, kOptional)         \
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
  PASTCONE_INNER_HOOKS(X)   \
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

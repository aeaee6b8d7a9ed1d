// Raw system calls and the few kernel structures the runtime needs. Everything here is inlined into the runtime's text,
// which Syscall User Dispatch lets through.
#pragma once

#include <asm/unistd.h>
#include <linux/errno.h>

#include <cstddef>
#include <cstdint>

namespace pastcone::runtime {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using i32 = int32_t;
using i64 = int64_t;

inline long sys6(long nr, u64 a = 0, u64 b = 0, u64 c = 0, u64 d = 0, u64 e = 0, u64 f = 0) {
  long result;
  register u64 r10 asm("r10") = d;
  register u64 r8 asm("r8") = e;
  register u64 r9 asm("r9") = f;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

template <typename T>
inline u64 word(T value) {
  if constexpr (__is_same(T, decltype(nullptr))) return 0;
  else return (u64)value;
}

/// sys(__NR_read, fd, buffer, n): any mix of integers and pointers.
template <typename... Args>
inline long sys(long nr, Args... args) {
  return sys6(nr, word(args)...);
}

inline bool is_error(long result) { return (u64)result >= (u64)-4095L; }

// mmap
inline constexpr int kProtRead = 1, kProtWrite = 2, kProtExec = 4;
inline constexpr int kMapShared = 1, kMapPrivate = 2, kMapSharedValidate = 3, kMapTypeMask = 0xf, kMapFixed = 0x10,
                     kMapAnonymous = 0x20, kMapNoReserve = 0x4000, kMapStack = 0x20000, kMapFixedNoReplace = 0x100000;
// futex
inline constexpr int kFutexWait = 0, kFutexWake = 1, kFutexPrivate = 128, kFutexRealtime = 256;

struct Timespec {
  i64 seconds, nanoseconds;
};
struct Iovec {
  u64 base, length;
};
struct Stat {
  u64 dev, ino, nlink;
  u32 mode, uid, gid, pad0;
  u64 rdev;
  i64 size, blksize, blocks;
  u64 atime, atime_ns, mtime, mtime_ns, ctime, ctime_ns;
  i64 unused[3];
};
static_assert(sizeof(Stat) == 144);
inline constexpr u32 kModeType = 0170000, kModeRegular = 0100000, kModeFifo = 0010000, kModeSocket = 0140000,
                     kModeChar = 0020000, kModeDirectory = 0040000;

// memory and strings: the compiler emits calls to the first four by itself
extern "C" {
void* memcpy(void* to, const void* from, size_t n);
void* memmove(void* to, const void* from, size_t n);
void* memset(void* to, int byte, size_t n);
int memcmp(const void* a, const void* b, size_t n);
size_t strlen(const char* s);
}
inline bool equal(const char* a, const char* b) {
  while (*a && *a == *b) ++a, ++b;
  return *a == *b;
}
inline bool starts_with(const char* s, const char* prefix) {
  while (*prefix && *s == *prefix) ++s, ++prefix;
  return !*prefix;
}
template <typename T>
inline T min(T a, T b) { return a < b ? a : b; }
template <typename T>
inline T max(T a, T b) { return a > b ? a : b; }

inline constexpr u64 kPage = 4096;
constexpr u64 page_down(u64 n) { return n & ~(kPage - 1); }
constexpr u64 page_up(u64 n) { return page_down(n + kPage - 1); }

// atomics on plain words, since the stage is plain memory
template <typename T>
inline T load(const T& word) { return __atomic_load_n(&word, __ATOMIC_ACQUIRE); }
template <typename T, typename V>
inline void store(T& word, V value) { __atomic_store_n(&word, (T)value, __ATOMIC_RELEASE); }
template <typename T, typename V>
inline T add(T& word, V n) { return __atomic_fetch_add(&word, (T)n, __ATOMIC_ACQ_REL); }
template <typename T>
inline bool swap_if(T& word, T expected, T desired) {
  return __atomic_compare_exchange_n(&word, &expected, desired, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

inline long futex_wait(u32& word, u32 value, const Timespec* timeout = nullptr) {
  return sys(__NR_futex, &word, kFutexWait, value, timeout, 0, 0);
}
inline void futex_wake(u32& word, int count = 0x7fffffff) { sys(__NR_futex, &word, kFutexWake, count, 0, 0, 0); }

}  // namespace pastcone::runtime

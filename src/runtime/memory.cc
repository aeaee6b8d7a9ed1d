// memcpy and friends without vector registers: `rep movsb` is what current processors want for long copies.
#include "sys.h"

namespace {

/// Two words, which overlap if they are more than what is to be copied.
template <typename Word>
void copy_two(void* to, const void* from, size_t n) {
  Word first, last;
  __builtin_memcpy(&first, from, sizeof first);
  __builtin_memcpy(&last, (const char*)from + n - sizeof last, sizeof last);
  __builtin_memcpy(to, &first, sizeof first);
  __builtin_memcpy((char*)to + n - sizeof last, &last, sizeof last);
}

/// Numbers are written in one go: to who watches them, each write is a stop.
template <typename Word>
bool copy_one(void* to, const void* from, size_t n) {
  if (n != sizeof(Word)) return false;
  Word word;
  __builtin_memcpy(&word, from, sizeof word);
  __builtin_memcpy(to, &word, sizeof word);
  return true;
}

}  // namespace

extern "C" {

void* memcpy(void* to, const void* from, size_t n) {
  void* out = to;
  if (copy_one<uint64_t>(to, from, n) || copy_one<uint32_t>(to, from, n)) return out;
  if (n > 8 && n <= 16) {
    copy_two<uint64_t>(to, from, n);
    return out;
  }
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
  return out;
}

void* memmove(void* to, const void* from, size_t n) {
  if ((char*)to <= (const char*)from || (char*)to >= (const char*)from + n) return memcpy(to, from, n);
  char* t = (char*)to + n;
  const char* f = (const char*)from + n;
  while (n--) *--t = *--f;
  return to;
}

void* memset(void* to, int byte, size_t n) {
  void* out = to;
  asm volatile("rep stosb" : "+D"(to), "+c"(n) : "a"(byte) : "memory");
  return out;
}

int memcmp(const void* a, const void* b, size_t n) {
  auto x = (const unsigned char*)a;
  auto y = (const unsigned char*)b;
  for (; n; --n, ++x, ++y)
    if (*x != *y) return *x - *y;
  return 0;
}

size_t strlen(const char* s) {
  size_t n = 0;
  while (s[n]) ++n;
  return n;
}
}

// memcpy and friends without vector registers: `rep movsb` is what current processors want for long copies.
#include "sys.h"

extern "C" {

void* memcpy(void* to, const void* from, size_t n) {
  void* out = to;
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

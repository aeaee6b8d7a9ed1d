// brk, mmap, mremap, munmap, mprotect, madvise, mincore: the addresses are shown.
// e2e: varies
#include <sys/mman.h>

#include "common.h"

int main(void) {
  char* brk0 = sbrk(0);
  CHECK(sbrk(100000) == brk0);
  say("brk %p\n", (void*)brk0);
  char* a = mmap(NULL, 3 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* b = mmap(NULL, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(a != MAP_FAILED && b != MAP_FAILED);
  strcpy(a, "moves along");
  char* c = mremap(a, 3 << 20, 64 << 20, MREMAP_MAYMOVE);
  CHECK(c != MAP_FAILED);
  say("%p %p %p: %s\n", (void*)a, (void*)b, (void*)c, c);
  CHECK(mprotect(b, 4096, PROT_READ | PROT_WRITE) == 0);
  b[0] = 1;
  CHECK(madvise(b, 4096, MADV_DONTNEED) == 0);
  say("after dontneed: %d\n", b[0]);
  char* fixed = mmap(b, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  CHECK(fixed == b);
  say("no replace: %s\n",
      mmap(b, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) == MAP_FAILED
          ? strerror(errno)
          : "mapped");
  char* low = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  CHECK(low != MAP_FAILED);
  say("low %p\n", (void*)low);
  CHECK(munmap(c, 64 << 20) == 0 && munmap(b, 8192) == 0);
  say("unmapped: %s\n", msync(b, 4096, MS_ASYNC) < 0 ? strerror(errno) : "there");
  return 0;
}

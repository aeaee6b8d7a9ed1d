// Threads compute without calls, in a program whose address space is taken for more than a gigabyte below its code.
// e2e: varies
#include <pthread.h>
#include <sys/mman.h>

#include "common.h"

static volatile long counter;

/// Far beyond what can be followed by a trap for each pass.
static void* count(void* turns) {
  for (long i = 0; i < (long)turns; i++) counter++;
  return NULL;
}

int main(void) {
  const uintptr_t megabyte = 1 << 20, code = (uintptr_t)&count & ~(megabyte - 1);
  for (uintptr_t below = 32; below < 2048; below += 32) {
    void* wanted = (void*)(code - below * megabyte);
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    CHECK(mmap(wanted, (below == 32 ? 16 : 32) * megabyte, PROT_NONE, flags, -1, 0) == wanted);
  }
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, count, (void*)400000000) == 0);
  for (int i = 0; i < 2; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  say("sum %ld of 800000000\n", counter);
  return 0;
}

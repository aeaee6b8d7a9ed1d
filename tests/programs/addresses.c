// Addresses of everything: function, data, heap, stack, thread-local, libc, the dynamic linker's list.
// e2e: varies
#include <link.h>

#include "common.h"

static int data = 1;
static int zero;
static __thread int local;

static int show(struct dl_phdr_info* info, size_t size, void* arg) {
  (void)size;
  (void)arg;
  say("%lx %s\n", (unsigned long)info->dlpi_addr, info->dlpi_name);
  return 0;
}

int main(void) {
  int stack;
  say("function %p data %p bss %p stack %p local %p\n", (void*)(uintptr_t)main, (void*)&data, (void*)&zero,
      (void*)&stack, (void*)&local);
  say("malloc %p large %p libc %p errno %p\n", malloc(10), malloc(1 << 20), (void*)(uintptr_t)printf,
      (void*)&errno);
  dl_iterate_phdr(show, NULL);
  return 0;
}

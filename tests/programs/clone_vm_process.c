// clone with CLONE_VM: two processes in one memory, whose unlocked updates race; the sum shows what was lost.
// e2e: varies
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "common.h"

static volatile long counter;
static volatile int arrived;

static int add(void* unused) {
  (void)unused;
  __atomic_add_fetch(&arrived, 1, __ATOMIC_SEQ_CST);
  while (arrived < 2) syscall(SYS_sched_yield);
  for (int i = 0; i < 2000; i++) {
    long v = counter;
    if (i % 16 == 0) syscall(SYS_sched_yield);
    counter = v + 1;
  }
  return 0;
}

int main(void) {
  size_t size = 256 * 1024;
  char* stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(stack != MAP_FAILED);
  pid_t pid = clone(add, stack + size, CLONE_VM | SIGCHLD, NULL);
  CHECK(pid > 0);
  add(NULL);
  CHECK(exit_status(pid) == 0);
  CHECK(counter >= 2 && counter <= 4000);  // a late write can undo nearly everything
  say("sum %ld\n", counter);
  return 0;
}

// Shared anonymous memory with a race on purpose: unlocked additions; the sum shows what was lost.
// e2e: varies
#include <sched.h>
#include <sys/mman.h>

#include "common.h"

struct Shared {
  volatile long counter;
  volatile int last_writer[8];
};

static void add(struct Shared* shared, int me) {
  for (int i = 0; i < 4000; i++) {
    long v = shared->counter;
    if (i % 32 == 0) sched_yield();
    shared->counter = v + 1;
    shared->last_writer[i % 8] = me;
  }
}

int main(void) {
  struct Shared* shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED);
  pid_t pids[2];
  for (int i = 0; i < 2; i++) {
    if ((pids[i] = fork_checked()) == 0) {
      add(shared, i + 1);
      _exit(0);
    }
  }
  add(shared, 3);
  for (int i = 0; i < 2; i++) CHECK(exit_status(pids[i]) == 0);
  CHECK(shared->counter >= 2 && shared->counter <= 12000);  // a late write can undo nearly everything
  say("sum %ld of 12000, last writers", shared->counter);
  for (int i = 0; i < 8; i++) say(" %d", shared->last_writer[i]);
  say("\n");
  return 0;
}

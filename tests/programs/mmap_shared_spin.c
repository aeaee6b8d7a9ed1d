// Two processes that hand a number back and forth through shared memory, spinning without any call.
// e2e: stable
#include <sys/mman.h>

#include "common.h"

int main(void) {
  volatile int* turn = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(turn != MAP_FAILED);
  pid_t pid = fork_checked();
  int me = pid == 0;
  for (int i = me; i < 6; i += 2) {
    while (*turn != i) {
    }
    *turn = i + 1;
  }
  if (pid == 0) _exit(0);
  CHECK(exit_status(pid) == 0);
  say("ended at %d\n", *turn);
  return 0;
}

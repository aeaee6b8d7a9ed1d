// A signal that reaches a child before it has made its first call: in shared memory it waits for its turn meanwhile.
// e2e: varies
#include <sys/mman.h>

#include "common.h"

static volatile int* shared;
static volatile sig_atomic_t taken;
static void take(int sig) {
  (void)sig;
  taken = 1 + shared[0]++;
}

int main(void) {
  shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED);
  CHECK(signal(SIGUSR1, take) != SIG_ERR);
  for (int i = 0; i < 50; i++) {
    pid_t pid = fork_checked();
    if (pid == 0) {
      int at_first = taken;
      while (!taken) usleep(100);
      printf("child %d: %s, %d before it\n", i, at_first ? "at once" : "later", taken - 1);
      fflush(stdout);
      _exit(0);
    }
    CHECK(kill(pid, SIGUSR1) == 0);
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
  }
  printf("%d taken\n", shared[0]);
  return 0;
}

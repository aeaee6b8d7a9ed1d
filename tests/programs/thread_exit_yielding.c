// The process ends while another thread, which has just yielded, waits for its turn: what it would do next never happened.
// e2e: varies
#include <pthread.h>
#include <sched.h>

#include "common.h"

static volatile int written;
static void* yielder(void* unused) {
  for (int i = 1;; i++) {
    sched_yield();
    written = i;
  }
  return unused;
}

int main(void) {
  for (int round = 0; round < 20; round++) {
    pid_t pid = fork_checked();
    if (pid == 0) {
      pthread_t thread;
      CHECK(pthread_create(&thread, NULL, yielder, NULL) == 0);
      for (int i = 0; i < round; i++) sched_yield();
      for (volatile int i = 0; i < 3000000; i++) {
      }
      say("round %d: %d written\n", round, written);
      _exit(written & 63);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
  }
  return 0;
}

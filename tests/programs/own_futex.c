// Two threads that wait for each other by a futex of their own, which is no lock that anybody knows of.
// e2e: stable parallel
#include <linux/futex.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

static int flag, seen;

static void* body(void* unused) {
  (void)unused;
  for (int i = 0; i < 20; ++i) syscall(SYS_getppid);
  __atomic_store_n(&flag, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, &flag, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
  while (!__atomic_load_n(&seen, __ATOMIC_SEQ_CST)) continue;  // no call before the other's
  return NULL;
}

int main(void) {
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, body, NULL) == 0);
  while (!__atomic_load_n(&flag, __ATOMIC_SEQ_CST)) syscall(SYS_futex, &flag, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
  syscall(SYS_getuid);
  __atomic_store_n(&seen, 1, __ATOMIC_SEQ_CST);
  CHECK(pthread_join(thread, NULL) == 0);
  puts("met");
  return 0;
}

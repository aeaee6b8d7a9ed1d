// A program that cannot be executed after all, because its arguments are too long: who tried has its robust mutex still.
// e2e: stable parallel
#include <pthread.h>
#include <sys/mman.h>

#include "common.h"

static pthread_mutex_t* lock;

static void try_from_another(void) {
  pid_t pid = fork_checked();
  if (pid == 0) {
    int result = pthread_mutex_trylock(lock);
    if (result == 0) CHECK(pthread_mutex_unlock(lock) == 0);
    _exit(result);
  }
  say("another: %s\n", strerror(exit_status(pid)));
}

static void try_exec(int protocol) {
  static char argument[1 << 20];
  pthread_mutexattr_t a;
  CHECK(pthread_mutexattr_init(&a) == 0 && pthread_mutexattr_setpshared(&a, PTHREAD_PROCESS_SHARED) == 0);
  CHECK(pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST) == 0 && pthread_mutexattr_setprotocol(&a, protocol) == 0);
  CHECK(pthread_mutex_init(lock, &a) == 0 && pthread_mutex_lock(lock) == 0);
  memset(argument, 'a', sizeof argument - 1);
  say("%d ", execl("/bin/true", "true", argument, (char*)NULL));
  say("%s\n", strerror(errno));
  try_from_another();
  CHECK(pthread_mutex_consistent(lock) == EINVAL && pthread_mutex_unlock(lock) == 0);
  try_from_another();
}

int main(void) {
  lock = mmap(NULL, sizeof *lock, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(lock != MAP_FAILED);
  try_exec(PTHREAD_PRIO_NONE);
  try_exec(PTHREAD_PRIO_INHERIT);
  return 0;
}

// A condition that is signalled with the mutex, then without; what the one who waits does afterwards.
// e2e: stable parallel
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static sem_t waits;
static int stage;

static void* wait_twice(void* unused) {
  (void)unused;
  for (int wanted = 1; wanted <= 2; ++wanted) {
    pthread_mutex_lock(&lock);
    sem_post(&waits);
    while (stage < wanted) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    syscall(SYS_getuid);
  }
  return NULL;
}

int main(void) {
  pthread_t thread;
  sem_init(&waits, 0, 0);
  CHECK(pthread_create(&thread, NULL, wait_twice, NULL) == 0);
  sem_wait(&waits);
  pthread_mutex_lock(&lock);
  stage = 1;
  syscall(SYS_getgid);
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&lock);
  sem_wait(&waits);
  pthread_mutex_lock(&lock);
  stage = 2;
  pthread_mutex_unlock(&lock);
  syscall(SYS_getegid);
  pthread_cond_signal(&changed);
  CHECK(pthread_join(thread, NULL) == 0);
  puts("done");
  return 0;
}

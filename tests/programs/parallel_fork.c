// fork from a process whose other threads use locks all the time; the children use the same locks, and one thread each.
// e2e: varies parallel
#include <pthread.h>

#include "common.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int stop;
static long counted, others;

static void before(void) { pthread_mutex_lock(&lock); }
static void after(void) { pthread_mutex_unlock(&lock); }

static void* count(void* arg) {
  for (;;) {
    pthread_mutex_lock(&lock);
    counted = counted * 3 + (long)arg;
    int ends = stop;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&other);
    others++;
    pthread_mutex_unlock(&other);
    if (ends) return NULL;
  }
}

static void* in_child(void* arg) {
  pthread_mutex_lock(&lock);
  counted = counted * 5 + (long)arg;
  pthread_mutex_unlock(&lock);
  return NULL;
}

int main(void) {
  CHECK(pthread_atfork(before, after, after) == 0);
  pthread_t threads[2];
  for (long i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, count, (void*)(i + 1)) == 0);
  for (int i = 0; i < 4; i++) {
    sleep_ms(1);
    pid_t pid = fork_checked();
    if (pid == 0) {
      pthread_t mine[2];
      for (long k = 0; k < 2; k++) CHECK(pthread_create(&mine[k], NULL, in_child, (void*)k) == 0);
      for (int k = 0; k < 2; k++) CHECK(pthread_join(mine[k], NULL) == 0);
      say("child %d saw %lx\n", i, counted);
      _exit(0);
    }
    CHECK(exit_status(pid) == 0);
  }
  pthread_mutex_lock(&lock);
  stop = 1;
  pthread_mutex_unlock(&lock);
  for (int i = 0; i < 2; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  say("counted %lx\n", counted);
  return 0;
}

// fork from a threaded process: atfork handlers, one thread in the child, exec from there.
// e2e: varies
#include <pthread.h>

#include "common.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile int stop;
static long counted;

static void before(void) { pthread_mutex_lock(&lock); }
static void after(void) { pthread_mutex_unlock(&lock); }
static void* count(void* arg) {
  (void)arg;
  while (!stop) {
    pthread_mutex_lock(&lock);
    counted++;
    pthread_mutex_unlock(&lock);
    usleep(100);
  }
  return NULL;
}

int main(void) {
  CHECK(pthread_atfork(before, after, after) == 0);
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) CHECK(pthread_create(&threads[i], NULL, count, NULL) == 0);
  for (int i = 0; i < 4; i++) {
    sleep_ms(1);
    pid_t pid = fork_checked();
    if (pid == 0) {
      pthread_mutex_lock(&lock);
      say("child %d saw %ld\n", i, counted);
      pthread_mutex_unlock(&lock);
      if (i % 2) execl("/bin/sh", "sh", "-c", "exit 9", (char*)NULL);
      _exit(8);
    }
    say("status %d\n", exit_status(pid));
  }
  stop = 1;
  for (int i = 0; i < 2; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  say("counted %ld\n", counted);
  return 0;
}

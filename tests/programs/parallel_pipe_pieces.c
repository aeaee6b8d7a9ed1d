// A thread writes more into a pipe than it holds, piece by piece, while others make calls in between.
// e2e: varies parallel
#include <pthread.h>

#include "common.h"

enum { kThreads = 3, kSize = 600000, kCalls = 300 };
static int pipes[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned order;

static void* write_much(void* arg) {
  char* data = malloc(kSize);
  CHECK(data != NULL);
  fill_random(data, kSize, 5);
  write_all(pipes[1], data, kSize);
  free(data);
  return arg;
}

static void* make_calls(void* arg) {
  for (int i = 0; i < kCalls; i++) {
    CHECK(getppid() > 0);
    pthread_mutex_lock(&lock);
    order = order * 31 + *(unsigned*)arg;
    pthread_mutex_unlock(&lock);
  }
  return arg;
}

static void read_slowly(void) {
  static char piece[7000];
  uint32_t hash = HASH_START;
  CHECK(close(pipes[1]) == 0);
  for (size_t n; (n = read_all(pipes[0], piece, sizeof piece)) > 0;) hash = hash_bytes(hash, piece, n);
  say("read %x\n", hash);
  _exit(0);
}

int main(void) {
  CHECK(pipe(pipes) == 0);
  pid_t reader = fork_checked();
  if (reader == 0) read_slowly();
  CHECK(close(pipes[0]) == 0);
  pthread_t writer, threads[kThreads];
  unsigned names[kThreads];
  CHECK(pthread_create(&writer, NULL, write_much, NULL) == 0);
  for (unsigned i = 0; i < kThreads; i++) {
    names[i] = i + 1;
    CHECK(pthread_create(&threads[i], NULL, make_calls, &names[i]) == 0);
  }
  for (int i = 0; i < kThreads; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  CHECK(pthread_join(writer, NULL) == 0 && close(pipes[1]) == 0 && exit_status(reader) == 0);
  say("order %x\n", order);
  return 0;
}

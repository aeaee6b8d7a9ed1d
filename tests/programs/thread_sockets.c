// Threads of two processes talk over several connections at once; each shows the order it saw.
// e2e: varies
#include <pthread.h>

#include "net.h"

enum { kThreads = 3, kMessages = 30 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t order = HASH_START;
static int port;

static void note(int value) {
  pthread_mutex_lock(&lock);
  order = hash_bytes(order, &value, sizeof value);
  pthread_mutex_unlock(&lock);
}
static void* client(void* arg) {
  int fd = connected(SOCK_STREAM, loopback(AF_INET, port));
  for (int i = 0; i < kMessages; i++) {
    int value = (int)(long)arg * 100 + i, back;
    write_all(fd, &value, sizeof value);
    CHECK(read_all(fd, &back, sizeof back) == sizeof back && back == value * 2);
    note(back);
  }
  close(fd);
  return NULL;
}
static void* serve(void* arg) {
  int fd = (int)(long)arg, value;
  while (read_all(fd, &value, sizeof value) == sizeof value) {
    note(value);
    value *= 2;
    write_all(fd, &value, sizeof value);
  }
  return NULL;
}

int main(void) {
  int listener = listening(SOCK_STREAM, loopback(AF_INET, 0));
  port = port_of(listener);
  pid_t pid = fork_checked();
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; i++)
    CHECK(pthread_create(&threads[i], NULL, pid == 0 ? client : serve,
                         pid == 0 ? (void*)i : (void*)(long)accepted(listener)) == 0);
  for (int i = 0; i < kThreads; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  if (pid != 0) CHECK(exit_status(pid) == 0);
  say("%s order %08x\n", pid == 0 ? "client" : "server", order);
  return 0;
}

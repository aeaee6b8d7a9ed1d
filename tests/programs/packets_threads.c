// Threads of two processes send and receive on a seqpacket and a datagram pair and a FIFO, which are often full.
// e2e: varies
#include <pthread.h>

#include "net.h"

enum { kThreads = 4, kMessages = 50 };
static int socket_fd, same_size;  // in a FIFO there are no borders

static void* sender(void* number) {
  for (int i = 0; i < kMessages; i++) {
    char text[2000];
    size_t size = same_size ? sizeof text : 10 + (size_t)(i * 41 + (int)(intptr_t)number) % 1900;
    fill_random(text, size, (uint64_t)i % 5);
    CHECK(write(socket_fd, text, size) == (ssize_t)size);
  }
  return NULL;
}

static void* receiver(void* number) {
  for (int i = 0; i < kMessages; i++) {
    char text[2000];
    ssize_t n = read(socket_fd, text, sizeof text);
    CHECK(n > 0);
    say("thread %d: %zd %08x\n", (int)(intptr_t)number, n, hash_bytes(HASH_START, text, (size_t)n));
  }
  return NULL;
}

static void run(void* (*work)(void*)) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; i++) CHECK(pthread_create(&threads[i], NULL, work, (void*)(intptr_t)i) == 0);
  for (int i = 0; i < kThreads; i++) CHECK(pthread_join(threads[i], NULL) == 0);
}

int main(void) {
  CHECK(mkfifo("fifo", 0600) == 0);
  for (int i = 0; i < 3; i++) {
    int s[2];
    same_size = i == 2;
    if (i < 2) CHECK(socketpair(AF_UNIX, i ? SOCK_DGRAM : SOCK_SEQPACKET, 0, s) == 0);
    else CHECK((s[0] = open("fifo", O_RDWR)) >= 0 && (s[1] = open("fifo", O_WRONLY)) >= 0);
    pid_t pid = fork_checked();
    socket_fd = s[pid == 0];
    close(s[pid != 0]);
    run(pid == 0 ? sender : receiver);
    if (pid == 0) _exit(0);
    CHECK(exit_status(pid) == 0);
    close(socket_fd);
  }
  return 0;
}

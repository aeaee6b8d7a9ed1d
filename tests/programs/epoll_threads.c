// Three threads wait on one epoll set for the answers of a child; each shows what it got.
// e2e: varies
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "common.h"

enum { kPairs = 5, kRounds = 20 };
static int epoll, done;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void* work(void* arg) {
  int got = 0;
  for (;;) {
    struct epoll_event event;
    if (epoll_wait(epoll, &event, 1, 20) == 1) {
      int fd = event.data.fd;
      char byte;
      CHECK(read(fd, &byte, 1) == 1);
      got++;
      struct epoll_event again = {EPOLLIN | EPOLLONESHOT, {.fd = fd}};
      pthread_mutex_lock(&lock);
      done++;
      pthread_mutex_unlock(&lock);
      CHECK(epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &again) == 0);
    }
    pthread_mutex_lock(&lock);
    int all = done == kPairs * kRounds;
    pthread_mutex_unlock(&lock);
    if (all) break;
  }
  say("thread %ld: %d\n", (long)arg, got);
  return NULL;
}

int main(void) {
  int near[kPairs], far[kPairs];
  epoll = epoll_create1(0);
  for (int i = 0; i < kPairs; i++) {
    int s[2];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
    near[i] = s[0];
    far[i] = s[1];
    struct epoll_event event = {EPOLLIN | EPOLLONESHOT, {.fd = near[i]}};
    CHECK(epoll_ctl(epoll, EPOLL_CTL_ADD, near[i], &event) == 0);
  }
  pid_t pid = fork_checked();
  if (pid == 0) {
    for (int k = 0; k < kRounds; k++)
      for (int i = 0; i < kPairs; i++) write_all(far[i], "x", 1);
    _exit(0);
  }
  pthread_t threads[3];
  for (long i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, work, (void*)i) == 0);
  for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
  say("total %d\n", done);
  return exit_status(pid);
}

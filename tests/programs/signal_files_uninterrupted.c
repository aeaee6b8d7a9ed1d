// Calls on files do not fail with EINTR, however many signals come, with handlers that do not ask for a restart; two threads.
// e2e: varies
#include <pthread.h>
#include <sys/time.h>

#include "common.h"

static volatile sig_atomic_t handled;
static void handle(int signal) { handled += signal == SIGALRM; }

static void* work(void* name) {
  char text[3000], back[3000];
  memset(text, 'a', sizeof text);
  for (int i = 0; i < 400; i++) {
    int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0);
    CHECK(write(fd, text, sizeof text) == sizeof text);
    if (i % 40 == 0) CHECK(fdatasync(fd) == 0);
    CHECK(lseek(fd, 0, SEEK_SET) == 0);
    CHECK(read(fd, back, sizeof back) == sizeof back);
    CHECK(close(fd) == 0);
    if (i % 100 == 0) {
      char line[40];
      int n = snprintf(line, sizeof line, "%s %d\n", (char*)name, i);
      CHECK(write(1, line, (size_t)n) == n);
    }
  }
  return 0;
}

int main(void) {
  struct sigaction action = {.sa_handler = handle};
  sigaction(SIGALRM, &action, 0);
  struct itimerval often = {{0, 300}, {0, 300}};
  CHECK(setitimer(ITIMER_REAL, &often, 0) == 0);
  work("alone");
  pthread_t thread;
  CHECK(pthread_create(&thread, 0, work, "thread") == 0);
  work("main");
  pthread_join(thread, 0);
  struct itimerval never = {{0, 0}, {0, 0}};
  CHECK(setitimer(ITIMER_REAL, &never, 0) == 0);
  char line[60];
  int n = snprintf(line, sizeof line, "signals came: %d\n", handled > 0);
  CHECK(write(1, line, (size_t)n) == n);
  return 0;
}

// A server makes a call that cannot be recorded: it, its children and what they execute go on outside; its clients do not.
// e2e: stable
#include <sys/syscall.h>

#include "net.h"

static void serve(int listener) {
  syscall(SYS_lookup_dcookie, 0, 0, 0);
  for (int i = 0; i < 4; ++i) {
    int fd = accept(listener, 0, 0);
    CHECK(fd >= 0);
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
      if (i % 2) {  // by a program of its own
        dup2(fd, 0);
        dup2(fd, 1);
        execlp("tr", "tr", "a-z", "A-Z", (char*)0);
        _exit(1);
      }
      char line[64];
      ssize_t n;
      while ((n = read(fd, line, sizeof line)) > 0) CHECK(write(fd, line, (size_t)n) == n);
      _exit(0);
    }
    close(fd);
    CHECK(waitpid(child, 0, 0) == child);
  }
  _exit(0);
}

int main(void) {
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof at;
  CHECK(!bind(listener, (struct sockaddr*)&at, size) && !listen(listener, 5));
  CHECK(!getsockname(listener, (struct sockaddr*)&at, &size));
  if (!fork()) serve(listener);
  for (int i = 0; i < 4; ++i) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK(!connect(fd, (struct sockaddr*)&at, size));
    char text[64], answer[64] = {0};
    int n = snprintf(text, sizeof text, "message %d", i);
    CHECK(write(fd, text, (size_t)n) == n);
    shutdown(fd, SHUT_WR);
    for (ssize_t got, all = 0; (got = read(fd, answer + all, sizeof answer - 1 - (size_t)all)) > 0;) all += got;
    puts(answer);
    close(fd);
  }
  int status;
  CHECK(wait(&status) > 0);
  printf("server ended with %d\n", WEXITSTATUS(status));
  return 0;
}

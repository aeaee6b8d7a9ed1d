// RLIMIT_FSIZE: a file stops growing, with SIGXFSZ or EFBIG; a child inherits the limit.
// e2e: stable
#include <sys/resource.h>

#include "common.h"

int main(void) {
  struct rlimit limit = {4096, 4096};
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  signal(SIGXFSZ, SIG_IGN);
  char block[3000] = "";
  int fd = open("file", O_RDWR | O_CREAT, 0600);
  for (int i = 0; i < 3; i++) {
    ssize_t n = write(fd, block, sizeof block);
    say("write: %zd%s%s\n", n, n < 0 ? " " : "", n < 0 ? strerror(errno) : "");
  }
  pid_t pid = fork_checked();
  if (pid == 0) {
    signal(SIGXFSZ, SIG_DFL);
    CHECK(write(fd, block, sizeof block) >= 0);
    _exit(0);
  }
  int status;
  CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
  say("child: %s\n", strsignal(WTERMSIG(status)));
  int ends[2];
  CHECK(pipe(ends) == 0);
  static char much[20000];
  CHECK(write(ends[1], much, sizeof much) == sizeof much);
  say("pipes do not count\n");
  return 0;
}

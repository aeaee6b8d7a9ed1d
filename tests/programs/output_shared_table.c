// Standard output in a table of descriptors that two processes share, but not their memory: each moves it for the other.
// e2e: stable
#include <sched.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>

#include "common.h"

static void write_to(int fd, const char* text) { write_all(fd, text, strlen(text)); }

// In the place of output comes another file, and the other way round.
static void move_output(int file) {
  CHECK(dup2(1, 40) == 40);
  CHECK(dup2(file, 41) == 41);
  CHECK(dup2(1, file) == file);
  CHECK(dup2(41, 1) == 1);
  write_to(40, "the child, to where it is now\n");
  write_to(1, "not to be seen\n");
}

int main(void) {
  int file = open("contents", O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK(file >= 0);
  write_to(file, "to the file\n");
  write_to(1, "to the output\n");
  pid_t pid = (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
  CHECK(pid >= 0);
  if (pid == 0) {
    move_output(file);
    _exit(0);
  }
  CHECK(exit_status(pid) == 0);
  write_to(1, "this is now the file\n");
  write_to(file, "and this the output\n");
  write_to(40, "and this\n");
  CHECK(write(50, "x", 1) < 0 && errno == EBADF);
  write_to(2, "the error output was left alone\n");
  off_t start = 0;
  if (sendfile(40, 41, &start, 12) < 0) {
    CHECK(errno == EINVAL);
    write_to(40, "to the file\n");
  }
  CHECK(dup2(40, 1) == 1);
  say("back again\n");
  char text[100] = "";
  ssize_t n = pread(41, text, sizeof text - 1, 0);
  say("%zd bytes in the file:\n%s", n, text);
  return 0;
}

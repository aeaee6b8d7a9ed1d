// Standard output and error of another process, or of the own one by odd names: opened as /proc shows them.
// e2e: stable
#include "common.h"

static void write_by(int directory, const char* path, const char* text) {
  int fd = openat(directory, path, O_WRONLY | O_APPEND);
  CHECK(fd >= 0);
  write_all(fd, text, strlen(text));
  CHECK(close(fd) == 0);
}

// With no output of its own.
static void use_other(pid_t other) {
  char path[64], fd_1[80];
  close(1);
  close(2);
  close(17);
  snprintf(path, sizeof path, "/proc/%d/fd", other);
  snprintf(fd_1, sizeof fd_1, "%s/1", path);
  write_by(AT_FDCWD, fd_1, "by its path\n");
  int directory = open(path, O_RDONLY | O_DIRECTORY);
  CHECK(directory >= 0);
  write_by(directory, "1", "in its directory\n");
  unlink("to-other");
  CHECK(symlink(fd_1, "to-other") == 0);
  write_by(AT_FDCWD, "to-other", "by a link\n");
  CHECK(chdir(path) == 0);
  write_by(AT_FDCWD, "17", "in the current directory\n");
  snprintf(path, sizeof path, "/proc/%d/task/%d/fd/1", other, other);
  write_by(AT_FDCWD, path, "by its thread\n");
  snprintf(path, sizeof path, "/proc/%d/fd/2", other);
  write_by(AT_FDCWD, path, "its error output\n");
  snprintf(path, sizeof path, "/proc/%d/fd/18", other);
  write_by(AT_FDCWD, path, "not to be seen\n");
  _exit(0);
}

int main(void) {
  CHECK(dup2(1, 17) == 17 && dup2(open("/dev/null", O_WRONLY), 18) == 18);
  say("first\n");
  write_by(AT_FDCWD, "/proc/thread-self/fd/1", "by the thread itself\n");
  pid_t parent = getpid(), pid = fork_checked();
  if (pid == 0) use_other(parent);
  CHECK(exit_status(pid) == 0);
  say("last\n");
  return 0;
}

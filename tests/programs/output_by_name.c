// Standard output and error, opened again by their names.
// e2e: stable
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void say(const char *path, const char *text) {
  int fd = open(path, O_WRONLY | O_APPEND);
  if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) _exit(99);
  close(fd);
}

int main(void) {
  dprintf(1, "first\n");
  say("/dev/stdout", "by its name\n");
  say("/dev/stderr", "the other one\n");
  say("/dev/fd/1", "by its number\n");
  dup2(1, 17);
  say("/proc/self/fd/17", "by another number\n");
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/fd/1", getpid());
  say(path, "by its process\n");
  unlink("to-output");
  unlink("to-that");
  if (symlink("/dev/stderr", "to-output") || symlink("to-output", "to-that")) return 2;
  say("./to-that", "by links\n");
  snprintf(path, sizeof path, "/proc/thread-self/fd/1");
  struct stat output;
  if (fstat(1, &output) == 0 && S_ISFIFO(output.st_mode)) say(path, "by its pipe\n");
  dprintf(1, "last\n");
  return 0;
}

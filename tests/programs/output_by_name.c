// Standard output and error, opened again by their names.
// e2e: stable
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
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
  dprintf(1, "last\n");
  return 0;
}

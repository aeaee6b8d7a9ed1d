// FIFOs: opens that wait for each other, two writers in turn, and the non-blocking open without a reader.
// e2e: stable
#include "common.h"

int main(void) {
  CHECK(mkfifo("queue", 0600) == 0);
  CHECK(open("queue", O_WRONLY | O_NONBLOCK) < 0);
  say("no reader: %s\n", strerror(errno));
  for (int i = 0; i < 2; i++) {
    pid_t pid = fork_checked();
    if (pid == 0) {
      int fd = open("queue", O_WRONLY);
      CHECK(fd >= 0);
      dprintf(fd, "writer %d was here\n", i);
      _exit(0);
    }
    int fd = open("queue", O_RDONLY);
    CHECK(fd >= 0);
    char text[100] = "";
    read_all(fd, text, sizeof text - 1);
    say("read: %s", text);
    close(fd);
    CHECK(exit_status(pid) == 0);
  }
  struct stat info;
  CHECK(stat("queue", &info) == 0);
  say("a fifo: %d\n", S_ISFIFO(info.st_mode));
  CHECK(unlink("queue") == 0);
  return 0;
}

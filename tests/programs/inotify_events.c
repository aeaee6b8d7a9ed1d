// inotify: what a child does to a directory, as events with names and cookies.
// e2e: stable
#include <sys/inotify.h>

#include "common.h"

int main(void) {
  CHECK(mkdir("watched", 0755) == 0);
  int fd = inotify_init1(IN_CLOEXEC);
  CHECK(fd >= 0 && inotify_add_watch(fd, "watched", IN_CREATE | IN_CLOSE_WRITE | IN_MOVE | IN_DELETE) > 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    write_file("watched/one", "text", 0600);
    CHECK(rename("watched/one", "watched/two") == 0 && mkdir("watched/inner", 0700) == 0);
    CHECK(unlink("watched/two") == 0 && rmdir("watched/inner") == 0);
    _exit(0);
  }
  uint32_t cookie = 0;
  for (int more = 1; more;) {
    char block[4096] __attribute__((aligned(8)));
    ssize_t n = read(fd, block, sizeof block);
    CHECK(n > 0);
    for (char* at = block; at < block + n;) {
      struct inotify_event* event = (struct inotify_event*)at;
      if (event->mask & IN_MOVED_FROM) cookie = event->cookie;
      say("%08x %s%s\n", event->mask, event->name,
          event->mask & IN_MOVED_TO ? (event->cookie == cookie ? " same cookie" : " other cookie") : "");
      if ((event->mask & IN_DELETE) && strcmp(event->name, "inner") == 0) more = 0;
      at += sizeof *event + event->len;
    }
  }
  return exit_status(pid);
}

// chroot, where allowed: the world is a directory, and the program goes on in it.
// e2e: stable
#include "common.h"

int main(void) {
  CHECK(mkdir("jail", 0755) == 0);
  write_file("jail/inside", "only this", 0644);
  if (chroot("jail") != 0) {
    say("not allowed: %s\n", strerror(errno));
    return 0;
  }
  CHECK(chdir("/") == 0);
  char text[20] = "";
  int fd = open("/inside", O_RDONLY);
  CHECK(fd >= 0);
  read_all(fd, text, sizeof text - 1);
  say("inside: %s; outside: %s\n", text, open("/etc/passwd", O_RDONLY) < 0 ? strerror(errno) : "visible");
  pid_t pid = fork_checked();
  if (pid == 0) {
    write_file("/written", "by the child", 0600);
    say("child in the jail\n");
    _exit(3);
  }
  say("status %d\n", exit_status(pid));
  return 0;
}

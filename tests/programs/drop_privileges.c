// Dropped privileges: groups, gid, uid, then work as nobody; as an ordinary user it fails and says so.
// e2e: stable
#include <grp.h>
#include <sys/prctl.h>

#include "common.h"

int main(void) {
  if (geteuid() == 0) {
    CHECK(setgroups(0, NULL) == 0 && setresgid(65534, 65534, 65534) == 0 &&
          setresuid(65534, 65534, 65534) == 0);
    say("uid %u, gid %u, groups %d\n", getuid(), getgid(), getgroups(0, NULL));
  } else {
    say("setgroups: %s\n", setgroups(0, NULL) < 0 ? strerror(errno) : "allowed");
  }
  CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  say("shadow: %s\n", open("/etc/shadow", O_RDONLY) < 0 ? strerror(errno) : "readable");
  int ends[2];
  CHECK(pipe(ends) == 0);
  for (int i = 0; i < 3; i++) {
    pid_t pid = fork_checked();
    if (pid == 0) {
      if (i == 2) execl("/bin/sh", "sh", "-c", "echo exec as nobody", (char*)NULL);
      dprintf(ends[1], "child %d\n", i);
      _exit(0);
    }
    CHECK(exit_status(pid) == 0);
  }
  char text[100] = "";
  CHECK(read(ends[0], text, sizeof text - 1) > 0);
  say("%s", text);
  return 0;
}

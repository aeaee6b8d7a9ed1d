// posix_spawn: file actions, attributes, an environment of its own, and the child's status.
// e2e: stable
#include <spawn.h>

#include "common.h"

int main(void) {
  int ends[2];
  CHECK(pipe2(ends, O_CLOEXEC) == 0);
  posix_spawn_file_actions_t actions;
  CHECK(posix_spawn_file_actions_init(&actions) == 0);
  CHECK(posix_spawn_file_actions_adddup2(&actions, ends[1], 1) == 0);
  CHECK(posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) == 0);
  CHECK(posix_spawn_file_actions_addclose(&actions, ends[0]) == 0);
  posix_spawnattr_t attributes;
  CHECK(posix_spawnattr_init(&attributes) == 0);
  sigset_t none;
  sigemptyset(&none);
  CHECK(posix_spawnattr_setsigmask(&attributes, &none) == 0);
  CHECK(posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP) == 0);

  char* argv[] = {"sh", "-c", "echo \"$GREETING from the child\"; exit 7", NULL};
  char* env[] = {"GREETING=hello", "PATH=/usr/bin:/bin", NULL};
  pid_t pid;
  CHECK((errno = posix_spawn(&pid, "/bin/sh", &actions, &attributes, argv, env)) == 0);
  close(ends[1]);
  char text[100] = "";
  read_all(ends[0], text, sizeof text - 1);
  say("read: %sstatus %d\n", text, exit_status(pid));
  CHECK((errno = posix_spawnp(&pid, "sh", NULL, NULL, argv, env)) == 0);
  say("again: status %d\n", exit_status(pid));
  return 0;
}

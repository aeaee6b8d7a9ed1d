// posix_spawn reports in the parent why the child could not exec: missing, not executable, bad action.
// e2e: stable
#include <spawn.h>

#include "common.h"

extern char** environ;

int main(void) {
  pid_t pid = 0;
  char* argv[] = {"nothing", NULL};
  say("missing: %s\n", strerror(posix_spawn(&pid, "/nonexistent/nothing", NULL, NULL, argv, environ)));
  say("missing on the path: %s\n",
      strerror(posix_spawnp(&pid, "no-such-program-here", NULL, NULL, argv, environ)));
  write_file("plain", "text\n", 0644);
  say("not executable: %s\n", strerror(posix_spawn(&pid, "./plain", NULL, NULL, argv, environ)));
  posix_spawn_file_actions_t actions;
  CHECK(posix_spawn_file_actions_init(&actions) == 0);
  CHECK(posix_spawn_file_actions_addopen(&actions, 0, "missing/input", O_RDONLY, 0) == 0);
  say("failed action: %s\n", strerror(posix_spawn(&pid, "/bin/true", &actions, NULL, argv, environ)));
  errno = 0;
  say("children left: %s\n", wait(NULL) < 0 ? strerror(errno) : "some");
  return 0;
}

// Process groups: three children ended by one kill of their group; one outside it survives.
// e2e: stable
#include "common.h"

static pid_t sleeper(int ready) {
  pid_t pid = fork_checked();
  if (pid == 0) {
    write_all(ready, "r", 1);
    for (;;) pause();
  }
  return pid;
}

int main(void) {
  int ready[2];
  CHECK(pipe(ready) == 0);
  pid_t members[3], outsider = sleeper(ready[1]);
  for (int i = 0; i < 3; i++) {
    members[i] = sleeper(ready[1]);
    CHECK(setpgid(members[i], members[0]) == 0);
    CHECK(getpgid(members[i]) == members[0]);
  }
  char all[4];
  CHECK(read_all(ready[0], all, 4) == 4);
  CHECK(killpg(members[0], 0) == 0);
  CHECK(kill(-members[0], SIGTERM) == 0);
  for (int i = 0; i < 3; i++) {
    int status;
    CHECK(waitpid(-members[0], &status, 0) > 0 && WIFSIGNALED(status));
    say("member ended by %s\n", strsignal(WTERMSIG(status)));
  }
  CHECK(killpg(members[0], SIGTERM) < 0);
  say("group now: %s\n", strerror(errno));
  CHECK(waitpid(outsider, NULL, WNOHANG) == 0);
  CHECK(kill(outsider, SIGKILL) == 0);
  int status;
  CHECK(waitpid(outsider, &status, 0) == outsider);
  say("outsider ended by %s\n", strsignal(WTERMSIG(status)));
  return 0;
}

// fork: a tree of seven processes, each printing its ids, each parent reaping its two children.
// e2e: varies
#include "common.h"

static void grow(int depth) {
  say("depth %d pid %d parent %d\n", depth, getpid(), getppid());
  if (depth == 2) return;
  pid_t children[2];
  for (int i = 0; i < 2; i++) {
    children[i] = fork_checked();
    if (children[i] == 0) {
      grow(depth + 1);
      _exit(10 * (depth + 1) + i);
    }
  }
  for (int i = 0; i < 2; i++)
    say("%d reaped %d status %d\n", getpid(), children[i], exit_status(children[i]));
}

int main(void) {
  grow(0);
  return 0;
}

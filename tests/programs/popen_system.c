// popen in both directions, system, and their statuses.
// e2e: stable
#include "common.h"

int main(void) {
  FILE* in = popen("echo one; echo two; exit 3", "r");
  CHECK(in != NULL);
  char line[100];
  while (fgets(line, sizeof line, in) != NULL) say("read %s", line);
  say("status %d\n", WEXITSTATUS(pclose(in)));
  FILE* out = popen("tr a-z A-Z", "w");
  CHECK(out != NULL);
  fprintf(out, "written to a command\n");
  say("status %d\n", WEXITSTATUS(pclose(out)));
  say("system %d\n", WEXITSTATUS(system("echo from a shell >&2; exit 5")));
  say("killed %d\n", WTERMSIG(system("kill -9 $$")));
  say("no shell command %d\n", WEXITSTATUS(system("no-such-command-here 2>/dev/null")));
  return 0;
}

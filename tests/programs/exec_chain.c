// exec: one process that becomes itself again five times, by different calls, keeping its id.
// e2e: stable
#include "common.h"

extern char** environ;

int main(int argc, char** argv) {
  int link = argc > 1 ? atoi(argv[1]) : 0;
  char next[12], id[12];
  snprintf(next, sizeof next, "%d", link + 1);
  snprintf(id, sizeof id, "%d", getpid());
  if (argc > 2) CHECK(strcmp(id, argv[2]) == 0);
  say("link %d\n", link);
  char* args[] = {argv[0], next, id, NULL};
  switch (link) {
    case 0:
      execv(argv[0], args);
      break;
    case 1:
      execve(argv[0], args, environ);
      break;
    case 2:
      execl(argv[0], argv[0], next, id, (char*)NULL);
      break;
    case 3:
      fexecve(open(argv[0], O_RDONLY | O_CLOEXEC), args, environ);
      break;
    case 4:
      execv("/proc/self/exe", args);
      break;
    default:
      return 0;
  }
  CHECK(!"exec came back");
}

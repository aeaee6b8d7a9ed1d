// mlockall: its errors, and that there is still memory afterwards.
// e2e: stable
#include <sys/mman.h>
#include <sys/resource.h>

#include "common.h"

int main(void) {
  struct rlimit enough = {8 << 20, 8 << 20};
  setrlimit(RLIMIT_MEMLOCK, &enough);
  CHECK(mlockall(0) == -1 && errno == EINVAL);
  CHECK(mlockall(MCL_ONFAULT) == -1 && errno == EINVAL);
  CHECK(mlockall(64) == -1 && errno == EINVAL);
  say("all that there is: %s\n", mlockall(MCL_CURRENT) ? strerror(errno) : "locked");
  say("and will be: %s\n", mlockall(MCL_CURRENT | MCL_FUTURE) ? strerror(errno) : "locked");
  char* block = malloc(1 << 20);
  CHECK(block);
  memset(block, 1, 1 << 20);
  FILE* file = fopen("/proc/self/status", "r");
  char line[200];
  long resident = 0;
  while (file && fgets(line, sizeof line, file)) sscanf(line, "VmRSS: %ld", &resident);
  say("it %s 100 MB\n", resident < 100 << 10 ? "takes less than" : "takes");
  CHECK(munlockall() == 0);
  enough.rlim_cur = 0;
  setrlimit(RLIMIT_MEMLOCK, &enough);
  int locked = mlockall(MCL_CURRENT) == 0;
  say("none allowed: %s\n", locked ? "locked" : strerror(errno));
  return 0;
}

// Closing what /proc/self/fd lists, and closefrom; what was listed is shown.
// e2e: varies
#include <dirent.h>

#include "common.h"

int main(void) {
  CHECK(dup2(1, 50) == 50 && dup2(1, 60) == 60);
  DIR* dir = opendir("/proc/self/fd");
  CHECK(dir != NULL);
  int closing[100], count = 0;
  for (struct dirent* entry; (entry = readdir(dir)) != NULL;) {
    int fd = atoi(entry->d_name);
    if (fd > 2 && fd != dirfd(dir) && count < 100) closing[count++] = fd;
  }
  closedir(dir);
  for (int i = 0; i < count; i++) {
    int result = close(closing[i]);
    say("listed %d, close %d\n", closing[i], result);
  }
  CHECK(fcntl(50, F_GETFD) < 0 && fcntl(60, F_GETFD) < 0);
  CHECK(dup2(1, 70) == 70);
  closefrom(3);
  say("after closefrom: %s\n", fcntl(70, F_GETFD) < 0 ? strerror(errno) : "open");
  return 0;
}

// dup2 and dup3 over high and highest descriptor numbers, all of which then work.
// e2e: stable
#include <sys/resource.h>

#include "common.h"

int main(void) {
  struct rlimit limit;
  CHECK(getrlimit(RLIMIT_NOFILE, &limit) == 0);
  if (limit.rlim_cur > 1024) limit.rlim_cur = 1024;
  CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
  int highest = limit.rlim_cur > 4096 ? 4095 : (int)limit.rlim_cur - 1, ends[2], wrong = 0;
  CHECK(pipe(ends) == 0);
  for (int fd = highest - 200; fd <= highest; fd++)
    if (dup2(ends[1], fd) != fd) wrong++;
  for (int fd = highest - 200; fd <= highest; fd++)
    if (write(fd, "x", 1) != 1) wrong++;
  CHECK(dup3(ends[1], highest, O_CLOEXEC) == highest);
  int lowest = fcntl(ends[1], F_DUPFD, 700);
  static char text[1000];
  say("wrong %d, flags %d, from 700: %d, read %zu\n", wrong, fcntl(highest, F_GETFD), lowest,
      (size_t)read(ends[0], text, sizeof text));
  if (limit.rlim_cur < (1u << 20)) {
    int top = (int)limit.rlim_cur - 1;
    CHECK(dup2(1, top) == top);
    dprintf(top, "through the topmost descriptor\n");
    CHECK(dup2(1, top + 1) < 0);
    say("above: %s\n", strerror(errno));
  }
  return 0;
}

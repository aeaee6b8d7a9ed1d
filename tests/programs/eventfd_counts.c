// eventfd: as a counter between processes, as a semaphore, and non-blocking.
// e2e: varies
#include <sys/eventfd.h>

#include "common.h"

int main(void) {
  int fd = eventfd(0, EFD_CLOEXEC);
  CHECK(fd >= 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    for (uint64_t i = 1; i <= 10; i++) {
      CHECK(eventfd_write(fd, i) == 0);
      if (i % 3 == 0) usleep(100);
    }
    _exit(0);
  }
  eventfd_t value, sum = 0;
  while (sum < 55) {
    CHECK(eventfd_read(fd, &value) == 0);
    say("%lu ", (unsigned long)value);
    sum += value;
  }
  say("= %lu\n", (unsigned long)sum);
  CHECK(exit_status(pid) == 0);

  int semaphore = eventfd(3, EFD_SEMAPHORE | EFD_NONBLOCK), taken = 0;
  while (eventfd_read(semaphore, &value) == 0) taken += (int)value;
  say("semaphore: %d, then %s\n", taken, strerror(errno));
  CHECK(eventfd_write(semaphore, UINT64_MAX - 1) == 0);
  CHECK(eventfd_write(semaphore, 1) < 0);
  say("full: %s\n", strerror(errno));
  return 0;
}

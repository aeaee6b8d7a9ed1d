// One process has a file mapped, one changes it with write and ftruncate, one only looks at it.
// e2e: varies
#include <fcntl.h>
#include <sys/mman.h>

#include "common.h"

enum { kBytes = 8192, kChanges = 400 };

int main(void) {
  const char* name = "seen_writes";
  int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK(fd >= 0 && ftruncate(fd, kBytes) == 0);
  volatile unsigned* words = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(words != MAP_FAILED);
  pid_t writer = fork_checked();
  if (writer == 0) {
    munmap((void*)words, kBytes);
    int own = open(name, O_WRONLY);
    for (unsigned i = 1; i <= kChanges; i++) {
      CHECK(pwrite(own, &i, sizeof i, 0) == sizeof i);
      if (i % 50 == 0) CHECK(pwrite(own, &i, sizeof i, 4096) == sizeof i && ftruncate(own, 4096) == 0 && ftruncate(own, kBytes) == 0);
    }
    _exit(0);
  }
  pid_t looker = fork_checked();
  if (looker == 0) {
    int own = open(name, O_RDONLY);
    volatile const unsigned* seen = mmap(NULL, 4096, PROT_READ, MAP_SHARED, own, 0);
    CHECK(seen != MAP_FAILED);
    unsigned last = 0, steps = 0;
    while (last < kChanges)
      if (*seen != last) {
        last = *seen;
        ++steps;
      }
    say("the looker saw %u changes\n", steps);
    _exit(0);
  }
  unsigned last = 0, steps = 0;
  while (last < kChanges)
    if (words[0] != last) {
      last = words[0];
      ++steps;
    }
  CHECK(exit_status(writer) == 0 && exit_status(looker) == 0);
  say("%u changes seen, behind the end: %u\n", steps, words[1024]);
  CHECK(words[1024] == 0);
  unlink(name);
  return 0;
}

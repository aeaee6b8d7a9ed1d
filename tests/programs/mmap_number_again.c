// A file that one process has mapped is deleted; another's file, which mostly gets its inode number, is a different one.
// e2e: stable
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>

#include "common.h"

enum { kRounds = 2000, kBytes = 4096 };

static const char first[] = "number_again.1", second[] = "number_again.2";

static void map_and_look(void) {
  int fd = open(first, O_RDWR);
  volatile unsigned char* bytes = mmap(NULL, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  CHECK(bytes != MAP_FAILED);
  memset((void*)bytes, 1, kBytes);
  for (int i = 0; i < kRounds; i++) {
    int sum = 0;
    for (int k = 0; k < kBytes; k++) sum += bytes[k];
    CHECK(sum == kBytes);
  }
  CHECK(unlink(first) == 0);
}

static void write_other(void) {
  while (access(first, F_OK) == 0) sched_yield();
  char bytes[kBytes];
  memset(bytes, 2, sizeof bytes);
  int fd = open(second, O_WRONLY | O_CREAT, 0600);
  for (int i = 0; i < kRounds / 10; i++) CHECK(pwrite(fd, bytes, kBytes, 0) == kBytes);
  CHECK(unlink(second) == 0);
}

int main(void) {
  unlink(second);
  int fd = open(first, O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK(ftruncate(fd, kBytes) == 0 && close(fd) == 0);
  pid_t a = fork_checked();
  if (a == 0) {
    map_and_look();
    _exit(0);
  }
  pid_t b = fork_checked();
  if (b == 0) {
    write_other();
    _exit(0);
  }
  CHECK(exit_status(a) == 0 && exit_status(b) == 0);
  say("it saw its own bytes\n");
  return 0;
}

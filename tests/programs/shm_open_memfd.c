// POSIX shared memory by name and memfd by descriptor, mapped by parent and child.
// e2e: stable
#include <sys/mman.h>

#include "common.h"

int main(void) {
  char name[40];
  snprintf(name, sizeof name, "/pastcone-test-%d", getpid());
  int fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600),
      memory = memfd_create("scratch", MFD_ALLOW_SEALING);
  CHECK(fd >= 0 && memory >= 0 && ftruncate(fd, 4096) == 0 && ftruncate(memory, 4096) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    int mine = shm_open(name, O_RDWR, 0);
    char* a = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, mine, 0);
    char* b = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    CHECK(a != MAP_FAILED && b != MAP_FAILED);
    strcpy(a, "by name");
    strcpy(b, "by descriptor");
    _exit(0);
  }
  CHECK(exit_status(pid) == 0);
  char* a = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
  CHECK(a != MAP_FAILED);
  char b[20] = "";
  CHECK(pread(memory, b, sizeof b - 1, 0) > 0);
  say("%s, %s\n", a, b);
  CHECK(fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK) == 0);
  say("sealed: %s\n", ftruncate(memory, 0) < 0 ? strerror(errno) : "shrunk");
  return shm_unlink(name);
}

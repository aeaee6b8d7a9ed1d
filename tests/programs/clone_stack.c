// clone: children on stacks of their own, with and without a shared descriptor table.
// e2e: stable
#include <sched.h>
#include <sys/mman.h>

#include "common.h"

static int fd_from_child = -1;

static int child(void* arg) {
  int fd = open("/dev/null", O_RDONLY);
  say("child sees argument %s, opened %s\n", (const char*)arg, fd >= 0 ? "a file" : "nothing");
  fd_from_child = fd;
  return fd;
}

static int run(const char* name, int flags) {
  size_t size = 256 * 1024;
  char* stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  CHECK(stack != MAP_FAILED);
  pid_t pid = clone(child, stack + size, flags | SIGCHLD, (void*)name);
  CHECK(pid > 0);
  int fd = exit_status(pid);
  CHECK(munmap(stack, size) == 0);
  return fd;
}

int main(void) {
  int fd = run("private descriptors", 0);
  say("its descriptor %s here\n", fcntl(fd, F_GETFD) < 0 ? "is not" : "is");
  fd = run("shared descriptors", CLONE_FILES);
  say("its descriptor %s here\n", fcntl(fd, F_GETFD) < 0 ? "is not" : "is");
  fd = run("vfork-like", CLONE_VM | CLONE_VFORK);
  say("its memory %s here\n", fd == fd_from_child ? "is" : "is not");
  return 0;
}

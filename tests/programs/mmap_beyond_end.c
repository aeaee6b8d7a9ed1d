// Pages of mapped files that lie behind the file's end: SIGBUS, caught, and at last not; also of a file that has become shorter.
// e2e: stable exit=SIGBUS
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>

#include "common.h"

static sigjmp_buf back;
static jmp_buf again;
static volatile int hits, direct;
static volatile long where;

static void on_bus(int signal, siginfo_t* info, void* context) {
  (void)context;
  hits++;
  where = (long)info->si_addr;
  if (direct) _longjmp(again, 1);
  siglongjmp(back, signal);
}

static char* map(const char* name, int size, int kind) {
  int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
  CHECK(fd >= 0 && ftruncate(fd, size) == 0);
  char* at = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, kind, fd, 0);
  CHECK(at != MAP_FAILED && close(fd) == 0);
  return at;
}

static void touch(char* at, int offset, int writes) {
  if (!sigsetjmp(back, 1)) {
    if (writes) at[offset] = 'x';
    else hits += 0 * *(volatile char*)(at + offset);
    say("there\n");
  } else {
    say("not there: %ld, %d\n", where - (long)at, hits);
  }
}

int main(void) {
  struct sigaction action = {.sa_sigaction = on_bus, .sa_flags = SA_SIGINFO | SA_NODEFER};
  CHECK(sigaction(SIGBUS, &action, NULL) == 0);
  char* shared = map("shared", 5, MAP_SHARED);
  touch(shared, 100, 1);
  touch(shared, 4096 + 100, 0);
  touch(shared, 2 * 4096, 1);
  CHECK(truncate("shared", 4096 + 10) == 0);
  touch(shared, 4096 + 100, 1);
  CHECK(truncate("shared", 10) == 0);
  touch(shared, 4096 + 100, 1);
  touch(shared, 100, 1);
  direct = 1;
  for (int i = 0; i < 3; i++) {  // without a call in between
    if (!_setjmp(again)) shared[4096 + i] = 'z';
  }
  direct = 0;
  say("again: %d\n", hits);
  char* own = map("private", 4096, MAP_PRIVATE);
  touch(own, 100, 1);
  touch(own, 4096, 0);
  CHECK(unlink("shared") == 0 && unlink("private") == 0);
  signal(SIGBUS, SIG_DFL);
  shared[2 * 4096 + 5] = 'y';
  return 1;
}

// Children that crash in every way, and the signal their parent sees.
// e2e: stable
#include <sys/mman.h>

#include "common.h"

static void crash(int way) {
  volatile int zero = 0;
  volatile int* volatile null = NULL;
  switch (way) {
    case 0:
      *null = 1;
      break;
    case 1:
      zero = 7 / zero;
      break;
    case 2:
      __builtin_trap();
      break;
    case 3:
      abort();
      break;
    case 4: {
      int fd = open("empty", O_RDWR | O_CREAT, 0600);
      char* map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
      CHECK(map != MAP_FAILED);
      zero = *(volatile char*)map;
      break;
    }
    case 5:
      __asm__ volatile("int3");
      break;
    case 6:
      raise(SIGTERM);
      break;
    case 7:
      ((void (*)(void))8)();
      break;
  }
}

int main(void) {
  for (int way = 0; way < 8; way++) {
    pid_t pid = fork_checked();
    if (pid == 0) {
      crash(way);
      _exit(0);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    say("%d: %s\n", way, WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit");
  }
  return 0;
}

// SIGSEGV caught on an alternate stack, left by siglongjmp: null, read-only, stack overflow.
// e2e: stable
#include <setjmp.h>
#include <sys/mman.h>

#include "common.h"

static sigjmp_buf target;
static void* volatile fault;
static void caught(int sig, siginfo_t* info, void* context) {
  (void)context;
  fault = info->si_addr;
  siglongjmp(target, sig);
}

// Grows the stack until it ends: no program gets to the limit.
static volatile int limit = 1 << 30;
static int overflow(volatile char* above, int depth) {
  volatile char frame[4096];
  frame[0] = above ? above[0] : 1;
  return depth == limit ? 0 : overflow(frame, depth + 1) + frame[0];
}

int main(void) {
  static char alternate[65536];
  stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};
  CHECK(sigaltstack(&stack, NULL) == 0);
  struct sigaction action = {.sa_sigaction = caught, .sa_flags = SA_SIGINFO | SA_ONSTACK};
  CHECK(sigaction(SIGSEGV, &action, NULL) == 0 && sigaction(SIGBUS, &action, NULL) == 0);
  volatile char* page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  volatile char* volatile wrong = (volatile char*)0x10;
  for (volatile int way = 0; way < 3; way++) {
    int sig = sigsetjmp(target, 1);
    if (sig == 0) {
      if (way == 0) *wrong = 1;
      if (way == 1) page[7] = 1;
      if (way == 2) CHECK(overflow(NULL, 0));
    }
    char here;
    const char* where = way == 0   ? (fault == (void*)0x10 ? "0x10" : "?")
                        : way == 1 ? (fault == page + 7 ? "the page" : "?")
                                   : ((char*)fault < &here ? "below the stack" : "?");
    say("way %d: %s at %s\n", way, strsignal(sig), where);
  }
  return 0;
}

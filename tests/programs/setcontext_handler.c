// A handler that does not return but goes on with setcontext where the signal came: in a call, and in a computation.
// e2e: stable parallel
#include <ucontext.h>

#include "common.h"

static ucontext_t context, left;
static volatile sig_atomic_t handled, swaps;

static void take(int sig, siginfo_t* info, void* interrupted) {
  (void)info;
  handled += sig == SIGUSR1;
  context = *(ucontext_t*)interrupted;
  context.__fpregs_mem.mxcsr = 0x1f80;  // the kernel keeps it elsewhere
  if (swaps) swapcontext(&left, &context);
  else setcontext(&context);
  _exit(1);
}

int main(void) {
  struct sigaction action = {.sa_sigaction = take, .sa_flags = SA_SIGINFO};
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  for (swaps = 0; swaps < 2; swaps++) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    pid_t parent = getpid(), child = fork_checked();
    if (child == 0) {
      close(ends[1]);
      sleep_ms(50);
      CHECK(kill(parent, SIGUSR1) == 0);
      _exit(0);
    }
    char byte = 'x';
    say("read: %zd\n", read(ends[0], &byte, 1));  // interrupted; setcontext makes it 0
    CHECK(byte == 'x' && waitpid(child, NULL, 0) == child);
    sigset_t blocked;
    CHECK(sigprocmask(SIG_BLOCK, NULL, &blocked) == 0 && !sigismember(&blocked, SIGUSR1));
    CHECK(raise(SIGUSR1) == 0);
    say("handled %d\n", handled);
  }
  return 0;
}

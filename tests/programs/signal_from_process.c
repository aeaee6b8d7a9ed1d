// A signal from another process, taken while the program computes with calls; who sent it is in the siginfo.
// e2e: varies
#include "common.h"

static volatile sig_atomic_t taken, sender, code;
static void take(int sig, siginfo_t* info, void* context) {
  (void)sig;
  (void)context;
  sender = info->si_pid;
  code = info->si_code;
  taken++;
}

int main(void) {
  struct sigaction action = {.sa_sigaction = take, .sa_flags = SA_SIGINFO};
  CHECK(sigaction(SIGUSR1, &action, NULL) == 0);
  pid_t parent = getpid(), pid = fork_checked();
  if (pid == 0) {
    for (int i = 0; i < 3; i++) {
      sleep_ms(2);
      CHECK(kill(parent, SIGUSR1) == 0);
    }
    _exit(0);
  }
  long calls = 0;
  int seen = 0;
  while (waitpid(pid, NULL, WNOHANG) == 0 || taken == 0) {
    calls++;
    if (taken != seen) {
      seen = taken;
      say("after %ld calls: signal %d\n", calls, seen);
    }
  }
  say("%d taken, from the child %d, by kill %d\n", (int)taken, sender == pid, code == SI_USER);
  return 0;
}

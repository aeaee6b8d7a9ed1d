// Real-time signals: queued with their values, none merged, lowest number first.
// e2e: stable
#include "common.h"

static char order[200];
static void take(int sig, siginfo_t* info, void* context) {
  (void)context;
  snprintf(order + strlen(order), sizeof order - strlen(order), " %d:%d", sig - SIGRTMIN,
           info->si_value.sival_int);
}

int main(void) {
  struct sigaction action = {.sa_sigaction = take, .sa_flags = SA_SIGINFO};
  sigfillset(&action.sa_mask);
  sigset_t block, before;
  sigemptyset(&block);
  for (int i = 0; i < 3; i++) {
    CHECK(sigaction(SIGRTMIN + i, &action, NULL) == 0);
    sigaddset(&block, SIGRTMIN + i);
  }
  CHECK(sigprocmask(SIG_BLOCK, &block, &before) == 0);
  pid_t parent = getpid(), pid = fork_checked();
  if (pid == 0) {
    for (int i = 0; i < 12; i++)
      CHECK(sigqueue(parent, SIGRTMIN + 2 - i % 3, (union sigval){.sival_int = i}) == 0);
    _exit(0);
  }
  CHECK(exit_status(pid) == 0);
  CHECK(sigprocmask(SIG_SETMASK, &before, NULL) == 0);
  say("%s\n", order + 1);
  return 0;
}

// SIGSYS that somebody sends: a child dies of it computing, waiting or when it unblocks it; handled, ignored, waited for.
// e2e: stable
#include "common.h"

static volatile sig_atomic_t taken, value;
static volatile long computed;
static void take(int sig, siginfo_t* info, void* context) {
  (void)sig;
  (void)context;
  taken++;
  value = info->si_value.sival_int;
}

static void block(int how) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGSYS);
  CHECK(sigprocmask(how, &set, NULL) == 0);
}

static void compute(void) {
  for (;;) computed++;
}
static void wait_for_signal(void) {
  for (;;) pause();
}
static void unblock(void) {
  block(SIG_UNBLOCK);
  _exit(1);
}

// The child says that it is there, and goes on once SIGSYS was sent if it has it blocked.
static void kill_one(const char* what, void (*live)(void)) {
  int there[2], sent[2], status;
  char byte = 'x';
  CHECK(pipe(there) == 0 && pipe(sent) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    if (live == unblock) block(SIG_BLOCK);
    write_all(there[1], &byte, 1);
    if (live == unblock) CHECK(read_all(sent[0], &byte, 1) == 1);
    live();
  }
  CHECK(read_all(there[0], &byte, 1) == 1);
  sleep_ms(2);
  CHECK(kill(pid, SIGSYS) == 0);
  write_all(sent[1], &byte, 1);
  CHECK(waitpid(pid, &status, 0) == pid);
  say("%s: %s\n", what, WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "lives");
  CHECK(close(there[0]) == 0 && close(there[1]) == 0 && close(sent[0]) == 0 && close(sent[1]) == 0);
}

int main(void) {
  kill_one("computing", compute);
  kill_one("waiting", wait_for_signal);
  kill_one("unblocking", unblock);

  struct sigaction action = {.sa_sigaction = take, .sa_flags = SA_SIGINFO};
  CHECK(sigaction(SIGSYS, &action, NULL) == 0);
  CHECK(sigqueue(getpid(), SIGSYS, (union sigval){.sival_int = 7}) == 0);
  say("handled: %d with %d\n", (int)taken, (int)value);
  pid_t parent = getpid(), pid = fork_checked();
  if (pid == 0) {
    sleep_ms(2);
    CHECK(kill(parent, SIGSYS) == 0);
    _exit(0);
  }
  while (taken < 2) computed++;
  CHECK(exit_status(pid) == 0);
  say("handled while computing: %d\n", (int)taken);

  block(SIG_BLOCK);
  CHECK(raise(SIGSYS) == 0);
  sigset_t set;
  CHECK(sigpending(&set) == 0);
  say("pending: %d, handled %d\n", sigismember(&set, SIGSYS), (int)taken);
  struct timespec limit = {10, 0};
  sigemptyset(&set);
  sigaddset(&set, SIGSYS);
  CHECK(sigtimedwait(&set, NULL, &limit) == SIGSYS);
  CHECK(raise(SIGSYS) == 0);
  block(SIG_UNBLOCK);
  say("waited for, and handled: %d\n", (int)taken);

  on_signal_flags(SIGSYS, SIG_IGN, 0);
  CHECK(raise(SIGSYS) == 0);
  say("ignored\n");
  return 0;
}

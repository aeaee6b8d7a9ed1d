// SA_RESTART: a read goes on after the handler, as if nothing had been.
// e2e: stable
#include "common.h"

static volatile sig_atomic_t taken;
static void take(int sig) { taken = sig; }

int main(void) {
  on_signal_flags(SIGUSR1, take, SA_RESTART);
  int ends[2];
  CHECK(pipe(ends) == 0);
  pid_t parent = getpid(), pid = fork_checked();
  if (pid == 0) {
    sleep_ms(10);
    CHECK(kill(parent, SIGUSR1) == 0);
    sleep_ms(10);
    write_all(ends[1], "data", 4);
    _exit(0);
  }
  char text[5] = "";
  ssize_t n = read(ends[0], text, 4);
  say("read %zd: %s, signal taken %d\n", n, text, taken == SIGUSR1);
  pid_t got = waitpid(pid, NULL, 0);
  say("child waited for: %d\n", got == pid);
  return 0;
}

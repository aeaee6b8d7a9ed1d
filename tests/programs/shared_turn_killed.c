// Three processes share memory; one is killed in the middle of its work, and the others go on.
// e2e: varies
#include <sys/mman.h>

#include "common.h"

int main(void) {
  volatile long* counters = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(counters != MAP_FAILED);
  pid_t victim = fork_checked();
  if (victim == 0)
    for (;;) counters[0]++;
  pid_t other = fork_checked();
  if (other == 0) {
    while (counters[2] == 0) {
      counters[1]++;
      getppid();
    }
    _exit(0);
  }
  sleep_ms(10);
  CHECK(kill(victim, SIGKILL) == 0);
  int status;
  CHECK(waitpid(victim, &status, 0) == victim && WTERMSIG(status) == SIGKILL);
  sleep_ms(5);
  counters[2] = 1;
  CHECK(exit_status(other) == 0);
  say("killed one, the other counted %s\n", counters[1] > 0 ? "on" : "nothing");
  return 0;
}

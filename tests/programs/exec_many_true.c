// Forty short programs, one after the other, as a shell loop starts them.
// e2e: stable
#include "common.h"

int main(void) {
  int failed = 0;
  for (int i = 0; i < 40; i++) {
    const char* program = i % 4 == 3 ? "/bin/false" : "/bin/true";
    pid_t pid = fork_checked();
    if (pid == 0) {
      execl(program, program, (char*)NULL);
      _exit(127);
    }
    failed += exit_status(pid);
  }
  say("%d of 40 failed\n", failed);
  return 0;
}

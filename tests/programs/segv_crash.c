// A crash by SIGSEGV after some output and a message between two processes.
// e2e: stable exit=SIGSEGV
#include "common.h"

int main(void) {
  int ends[2];
  CHECK(pipe(ends) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    write_all(ends[1], "poison", 6);
    _exit(0);
  }
  char text[7] = "";
  CHECK(read_all(ends[0], text, 6) == 6 && exit_status(pid) == 0);
  say("got %s, about to crash\n", text);
  volatile char* volatile wrong = (volatile char*)(long)text[0];
  *wrong = 1;
  say("not reached\n");
  return 0;
}

// A program compiled, run and deleted during the run, as `make check` does.
// e2e: stable needs=gcc
#include "common.h"

int main(void) {
  for (int i = 0; i < 2; i++) {
    char source[200];
    snprintf(source, sizeof source,
             "#include <stdio.h>\nint main(void) { printf(\"built number %d\\n\"); return %d; }\n", i,
             40 + i);
    write_file("built.c", source, 0600);
    CHECK(system("gcc -o built built.c") == 0);
    pid_t pid = fork_checked();
    if (pid == 0) {
      execl("./built", "./built", (char*)NULL);
      _exit(127);
    }
    say("status %d\n", exit_status(pid));
    CHECK(unlink("built") == 0 && unlink("built.c") == 0);
  }
  return 0;
}

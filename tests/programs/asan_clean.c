// Built with AddressSanitizer: threads, fork and pipes without a fault.
// e2e: stable
#include <pthread.h>

#include "common.h"

static void* work(void* arg) {
  char* text = malloc(100);
  snprintf(text, 100, "thread %ld", (long)arg);
  return text;
}

int main(void) {
  for (long i = 0; i < 3; i++) {
    pthread_t thread;
    void* text;
    CHECK(pthread_create(&thread, NULL, work, (void*)i) == 0 && pthread_join(thread, &text) == 0);
    say("%s\n", (char*)text);
    free(text);
  }
  int ends[2];
  CHECK(pipe(ends) == 0);
  pid_t pid = fork_checked();
  if (pid == 0) {
    write_all(ends[1], "child", 5);
    _exit(0);
  }
  char text[6] = "";
  CHECK(read_all(ends[0], text, 5) == 5);
  say("%s, status %d\n", text, exit_status(pid));
  return 0;
}

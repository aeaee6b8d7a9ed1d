// Three processes append to one file; the order of their lines is what happened.
// e2e: varies
#include "common.h"

int main(void) {
  pid_t pids[3];
  for (int i = 0; i < 3; i++) {
    if ((pids[i] = fork_checked()) == 0) {
      int fd = open("log", O_WRONLY | O_CREAT | O_APPEND, 0600);
      for (int k = 0; k < 30; k++) {
        CHECK(dprintf(fd, "%c%d\n", 'a' + i, k) > 0);
        if (k % 8 == 0) usleep(50);
      }
      _exit(0);
    }
  }
  for (int i = 0; i < 3; i++) CHECK(exit_status(pids[i]) == 0);
  char text[2000] = "";
  int fd = open("log", O_RDONLY);
  size_t n = read_all(fd, text, sizeof text - 1);
  say("%zu bytes, hash %08x: ", n, hash_bytes(HASH_START, text, n));
  for (size_t i = 0; i < n; i++)
    if (text[i] >= 'a') say("%c", text[i]);
  say("\n");
  return 0;
}

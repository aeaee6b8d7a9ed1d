// /proc/self: status, maps, stat, cmdline, exe, fd, as the program sees them.
// e2e: varies
#include "common.h"

static void show(const char* path, size_t limit) {
  static char text[200000];
  int fd = open(path, O_RDONLY);
  CHECK(fd >= 0);
  size_t n = read_all(fd, text, sizeof text - 1);
  text[n] = 0;
  close(fd);
  for (size_t i = 0; i < n; i++)
    if (text[i] == 0) text[i] = ' ';
  say("%s: %zu bytes, %08x\n%.*s\n", path, n, hash_bytes(HASH_START, text, n), (int)limit, text);
}

int main(void) {
  show("/proc/self/stat", 400);
  show("/proc/self/status", 2000);
  show("/proc/self/cmdline", 400);
  show("/proc/self/maps", 5000);
  show("/proc/self/limits", 300);
  show("/proc/meminfo", 200);
  show("/proc/uptime", 100);
  char exe[4096] = "";
  CHECK(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0);
  say("exe %s\n", exe);
  char own[40];
  snprintf(own, sizeof own, "/proc/%d/comm", getpid());
  show(own, 100);
  return 0;
}

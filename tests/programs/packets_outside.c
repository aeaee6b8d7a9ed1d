// Receives from whoever knows the names `datagrams` and `fifo`: a process of its own, and perhaps others.
// e2e: stable
//
// Senders of datagrams say "end"; the argument is how many do.
#include "net.h"

int main(int argc, char** argv) {
  int expected = argc > 1 ? atoi(argv[1]) : 1;
  struct Address name = unix_name("datagrams");
  int fd = bound(SOCK_DGRAM, name);
  CHECK(mkfifo("fifo", 0600) == 0);
  char text[4000];
  pid_t pid = fork_checked();
  if (pid == 0) {
    int to = connected(SOCK_DGRAM, name);
    for (int i = 0; i < 100; i++) {
      fill_random(text, 3000, (uint64_t)i);
      CHECK(send(to, text, 3000, 0) == 3000);
    }
    CHECK(send(to, "end", 3, 0) == 3);
    int fifo = open("fifo", O_WRONLY);
    CHECK(fifo >= 0);
    for (int i = 0; i < 100; i++) {
      fill_random(text, 2000, (uint64_t)i);
      write_all(fifo, text, 2000);
    }
    _exit(0);
  }
  uint32_t hash = HASH_START;
  long total = 0;
  for (int ends = 0; ends < expected;) {
    ssize_t n = recv(fd, text, sizeof text, 0);
    CHECK(n >= 0);
    if (n == 3 && memcmp(text, "end", 3) == 0) ends++;
    hash = hash_bytes(hash, text, (size_t)n);
    total += n;
  }
  say("datagrams: %ld bytes, %08x\n", total, hash);
  int fifo = open("fifo", O_RDONLY);
  CHECK(fifo >= 0);
  total = 0;
  for (ssize_t n; (n = read(fifo, text, sizeof text)) > 0; total += n) hash = hash_bytes(hash, text, (size_t)n);
  say("fifo: %ld bytes, %08x\n", total, hash);
  return exit_status(pid);
}

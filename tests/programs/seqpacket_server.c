// Seqpacket with listen and accept: three clients, records of different sizes, answered one by one.
// e2e: stable
#include "net.h"

int main(void) {
  struct Address name = unix_name("records");
  int listener = listening(SOCK_SEQPACKET, name);
  for (int i = 0; i < 3; i++) {
    pid_t pid = fork_checked();
    if (pid == 0) {
      int fd = connected(SOCK_SEQPACKET, name);
      char record[1000], answer[20] = "";
      fill_random(record, sizeof record, (uint64_t)i);
      for (int size = 10; size < 1000; size *= 3) {
        CHECK(send(fd, record, (size_t)size, 0) == size);
        CHECK(recv(fd, answer, sizeof answer - 1, 0) > 0);
        say("client %d: %d -> %s\n", i, size, answer);
      }
      _exit(0);
    }
    int fd = accepted(listener);
    char record[2000], answer[20];
    ssize_t n;
    while ((n = recv(fd, record, sizeof record, 0)) > 0) {
      snprintf(answer, sizeof answer, "%08x", hash_bytes(HASH_START, record, (size_t)n));
      CHECK(send(fd, answer, 9, 0) == 9);
    }
    close(fd);
    CHECK(exit_status(pid) == 0);
  }
  return 0;
}

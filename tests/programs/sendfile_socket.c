// sendfile: a file into a TCP connection and into a pipe, by position and by offset.
// e2e: stable
#include <sys/sendfile.h>

#include "net.h"

static char data[200000];

static void receive(int fd, const char* what) {
  size_t n = read_all(fd, data, sizeof data);
  say("%s: %zu bytes, %08x\n", what, n, hash_bytes(HASH_START, data, n));
  _exit(0);
}

static void send_all(int to, int file, off_t* offset, size_t size) {
  while (size > 0) {
    ssize_t n = sendfile(to, file, offset, size);
    CHECK(n > 0);
    size -= (size_t)n;
  }
  close(to);
}

int main(void) {
  fill_random(data, sizeof data, 7);
  int file = open("data", O_RDWR | O_CREAT, 0600);
  write_all(file, data, sizeof data);
  CHECK(lseek(file, 100, SEEK_SET) == 100);

  int listener = listening(SOCK_STREAM, loopback(AF_INET, 0));
  struct Address to = loopback(AF_INET, port_of(listener));
  pid_t pid = fork_checked();
  if (pid == 0) receive(accepted(listener), "tcp");
  send_all(connected(SOCK_STREAM, to), file, NULL, sizeof data - 100);
  CHECK(exit_status(pid) == 0);
  say("position %ld\n", (long)lseek(file, 0, SEEK_CUR));

  int ends[2];
  CHECK(pipe(ends) == 0);
  if ((pid = fork_checked()) == 0) {
    close(ends[1]);
    receive(ends[0], "pipe");
  }
  off_t offset = 50000;
  send_all(ends[1], file, &offset, 120000);
  CHECK(exit_status(pid) == 0);
  say("offset %ld, position %ld\n", (long)offset, (long)lseek(file, 0, SEEK_CUR));
  return 0;
}

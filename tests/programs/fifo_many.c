// FIFOs: several at each end, large and small writes, waiting and not, both directions, bytes that are lost.
// e2e: varies
#include <poll.h>

#include "common.h"

static int open_fifo(const char* name, int flags) {
  int fd = open(name, flags);
  CHECK(fd >= 0);
  return fd;
}

static void several(void) {
  // Held open until all have written: the readers must not see the end before.
  int both = open_fifo("several", O_RDWR), in[2] = {open_fifo("several", O_RDONLY), open_fifo("several", O_RDONLY)};
  pid_t readers[2], writers[4];
  for (int k = 0; k < 2; k++) {
    readers[k] = fork_checked();
    if (readers[k] != 0) continue;
    close(both);
    char text[100];
    ssize_t n;
    while ((n = read(in[k], text, 20 + (size_t)k)) > 0) say("reader %d: %zd %08x\n", k, n, hash_bytes(HASH_START, text, (size_t)n));
    CHECK(n == 0);
    _exit(0);
  }
  for (int k = 0; k < 4; k++) {
    writers[k] = fork_checked();
    if (writers[k] != 0) continue;
    int fd = open_fifo("several", O_WRONLY);
    char line[300];
    for (int i = 0; i < 50; i++) {
      fill_random(line, sizeof line, (uint64_t)(k * 100 + i));
      write_all(fd, line, i % 5 ? 30 : sizeof line);
    }
    _exit(0);
  }
  for (int k = 0; k < 2; k++) close(in[k]);
  for (int k = 0; k < 4; k++) CHECK(exit_status(writers[k]) == 0);
  close(both);
  for (int k = 0; k < 2; k++) CHECK(exit_status(readers[k]) == 0);
}

enum { kLarge = 1000 * 1000 };
static char large[kLarge];

static void in_one_call(int flags) {
  pid_t pid = fork_checked();
  if (pid == 0) {
    int fd = open_fifo("large", O_WRONLY);
    CHECK(fcntl(fd, F_SETFL, flags) == 0);
    fill_random(large, kLarge, 5);
    for (size_t done = 0; done < kLarge;) {
      ssize_t n = write(fd, large + done, kLarge - done);
      struct pollfd ready = {fd, POLLOUT, 0};
      if (n < 0) CHECK(errno == EAGAIN && poll(&ready, 1, -1) == 1);
      if (n > 0) done += (size_t)n;
      if (n > 0) say("wrote %zd\n", n);
    }
    _exit(0);
  }
  int fd = open_fifo("large", O_RDONLY);
  for (size_t done = 0; done < kLarge;) {
    ssize_t n = read(fd, large, 10000);
    CHECK(n > 0);
    done += (size_t)n;
    say("read %zd %08x\n", n, hash_bytes(HASH_START, large, (size_t)n));
  }
  CHECK(read(fd, large, 1) == 0);
  CHECK(exit_status(pid) == 0);
  close(fd);
}

static void both_directions(void) {
  int fd = open_fifo("both", O_RDWR);
  write_all(fd, "first and second", 16);
  // More than a page's worth of small writes fits, to the last byte.
  char text[1000];
  memset(text, 'x', sizeof text);
  for (int i = 0; i < 60; i++) write_all(fd, text, sizeof text);
  CHECK(read(fd, text, 6) == 6);
  say("%.6s\n", text);
  pid_t pid = fork_checked();
  if (pid == 0) {
    CHECK(read(fd, text, 11) == 11);
    say("%.11s\n", text);
    _exit(0);
  }
  CHECK(exit_status(pid) == 0);
  close(fd);
  fd = open_fifo("both", O_RDWR);
  write_all(fd, "new", 3);
  CHECK(read(fd, text, sizeof text) == 3);
  say("the rest was lost: %.3s\n", text);
}

int main(void) {
  CHECK(mkfifo("several", 0600) == 0 && mkfifo("large", 0600) == 0 && mkfifo("both", 0600) == 0);
  several();
  in_one_call(0);
  in_one_call(O_NONBLOCK);
  both_directions();
  return 0;
}

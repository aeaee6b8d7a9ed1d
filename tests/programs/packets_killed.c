// Senders that are killed while they send: on a datagram and a seqpacket pair, a datagram socket by name, a FIFO.
// e2e: varies
#include "net.h"

static void send_on(int fd) {
  char text[1000];
  for (int i = 0;; i++) {
    size_t size = 1 + (size_t)i * 7 % sizeof text;
    fill_random(text, size, (uint64_t)i);
    CHECK(write(fd, text, size) == (ssize_t)size);
  }
}

// Two of them, so that one dies while the other is at it.
static void run(const char* what, int in, int out) {
  pid_t pids[2];
  for (int k = 0; k < 2; k++) {
    pids[k] = fork_checked();
    if (pids[k] == 0) send_on(out);
  }
  char text[1000];
  uint32_t hash = HASH_START;
  ssize_t n;
  for (int i = 0; i < 120; i++) {
    CHECK((n = read(in, text, sizeof text)) > 0);
    hash = hash_bytes(hash, text, (size_t)n);
    if (i == 60) CHECK(kill(pids[0], SIGKILL) == 0);
    if (i % 20 == 0) say("%s %d: %zd %08x\n", what, i, n, hash);
  }
  CHECK(kill(pids[1], SIGKILL) == 0);
  for (int k = 0; k < 2; k++) CHECK(waitpid(pids[k], NULL, 0) == pids[k]);
  CHECK(fcntl(in, F_SETFL, O_NONBLOCK) == 0);
  int rest = 0;
  for (; (n = read(in, text, sizeof text)) > 0; rest++) hash = hash_bytes(hash, text, (size_t)n);
  say("%s: %d more, %08x\n", what, rest, hash);
  close(in);
  close(out);
}

int main(void) {
  int s[2];
  CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, s) == 0);
  run("dgram", s[0], s[1]);
  CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s) == 0);
  run("seqpacket", s[0], s[1]);
  int in = bound(SOCK_DGRAM, unix_name("name"));
  run("name", in, connected(SOCK_DGRAM, unix_name("name")));
  CHECK(mkfifo("fifo", 0600) == 0);
  in = open("fifo", O_RDWR);
  CHECK(in >= 0);
  run("fifo", in, open("fifo", O_WRONLY));
  return 0;
}

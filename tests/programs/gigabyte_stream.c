// Random bytes from one process to another; arguments: what kind of channel, and how many megabytes.
// e2e: stable args=tcp,16
//
// Kinds: tcp, unix, pipe, fifo, direct (a pipe with O_DIRECT), seqpacket, dgram, name (a bound datagram socket).
#include "net.h"

enum { kBlock = 1 << 16 };

// Returns how much may be written at once.
static size_t open_ends(const char* kind, int* in, int* out) {
  int s[2];
  if (strcmp(kind, "tcp") == 0) {
    int listener = listening(SOCK_STREAM, loopback(AF_INET, 0));
    *out = connected(SOCK_STREAM, loopback(AF_INET, port_of(listener)));
    *in = accepted(listener);
    return kBlock;
  }
  if (strcmp(kind, "fifo") == 0) {
    CHECK(mkfifo("fifo", 0600) == 0);
    CHECK((*in = open("fifo", O_RDONLY | O_NONBLOCK)) >= 0);
    CHECK((*out = open("fifo", O_WRONLY)) >= 0 && fcntl(*in, F_SETFL, 0) == 0);
    return kBlock;
  }
  if (strcmp(kind, "name") == 0) {
    *in = bound(SOCK_DGRAM, unix_name("name"));
    *out = connected(SOCK_DGRAM, unix_name("name"));
    return kBlock / 2;
  }
  if (strcmp(kind, "pipe") == 0) CHECK(pipe(s) == 0);
  else if (strcmp(kind, "direct") == 0) CHECK(pipe2(s, O_DIRECT) == 0);
  else if (strcmp(kind, "unix") == 0) CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, s) == 0);
  else if (strcmp(kind, "dgram") == 0) CHECK(socketpair(AF_UNIX, SOCK_DGRAM, 0, s) == 0);
  else CHECK(strcmp(kind, "seqpacket") == 0 && socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s) == 0);
  *in = s[0];
  *out = s[1];
  return strcmp(kind, "dgram") == 0 || strcmp(kind, "seqpacket") == 0 ? kBlock / 2 : kBlock;
}

int main(int argc, char** argv) {
  CHECK(argc == 3);
  long blocks = atol(argv[2]) * ((1 << 20) / kBlock);
  int in, out;
  size_t unit = open_ends(argv[1], &in, &out);
  static uint64_t block[kBlock / 8];
  uint64_t x = 88172645463325252u, sum = 0;
  pid_t pid = fork_checked();
  if (pid == 0) {
    close(in);
    for (long i = 0; i < blocks; i++) {
      for (size_t k = 0; k < kBlock / 8; k++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        block[k] = x;
      }
      for (size_t at = 0; at < kBlock; at += unit) write_all(out, (char*)block + at, unit);
    }
    _exit(0);
  }
  close(out);
  for (long i = 0; i < blocks; i++) {
    CHECK(read_all(in, block, kBlock) == kBlock);
    for (size_t k = 0; k < kBlock / 8; k++) sum = sum * 31 + block[k];
  }
  say("%ld MB, sum %016lx\n", blocks * kBlock >> 20, (unsigned long)sum);
  return exit_status(pid);
}

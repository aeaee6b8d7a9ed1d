// Random bytes from one process to another; arguments: tcp, unix or pipe, and how many megabytes.
// e2e: stable args=tcp,16
#include "net.h"

enum { kBlock = 1 << 16 };

int main(int argc, char** argv) {
  CHECK(argc == 3);
  long blocks = atol(argv[2]) * ((1 << 20) / kBlock);
  int in, out, s[2];
  if (strcmp(argv[1], "tcp") == 0) {
    int listener = listening(SOCK_STREAM, loopback(AF_INET, 0));
    out = connected(SOCK_STREAM, loopback(AF_INET, port_of(listener)));
    in = accepted(listener);
  } else {
    CHECK((strcmp(argv[1], "unix") == 0 ? socketpair(AF_UNIX, SOCK_STREAM, 0, s) : pipe(s)) == 0);
    in = s[0];
    out = s[1];
  }
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
      write_all(out, block, kBlock);
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

// Both ends of a datagram and of a seqpacket pair are shared: four processes send, three receive.
// e2e: varies
#include <sys/uio.h>

#include "net.h"

enum { kSenders = 4, kReceivers = 3, kMessages = 60 };

static void run(int type, const char* what) {
  int s[2];
  CHECK(socketpair(AF_UNIX, type, 0, s) == 0);
  pid_t senders[kSenders], receivers[kReceivers];
  for (int k = 0; k < kReceivers; k++) {
    receivers[k] = fork_checked();
    if (receivers[k] != 0) continue;
    uint32_t hash = HASH_START;
    for (;;) {
      char first[10], rest[3000];
      struct iovec parts[2] = {{first, sizeof first}, {rest, sizeof rest}};
      ssize_t n = readv(s[1], parts, 2);
      CHECK(n > 0);
      if (n == 1) break;
      hash = hash_bytes(hash, first, sizeof first);
      hash = hash_bytes(hash, rest, (size_t)n - sizeof first);
      say("%s receiver %d: %zd %08x\n", what, k, n, hash);
    }
    _exit(0);
  }
  for (int k = 0; k < kSenders; k++) {
    senders[k] = fork_checked();
    if (senders[k] != 0) continue;
    for (int i = 0; i < kMessages; i++) {
      // Every third message is the same from all.
      char text[3000];
      size_t size = i % 3 == 0 ? 100 : 11 + (size_t)(i * 37 + k) % 2900;
      fill_random(text, size, i % 3 == 0 ? 7 : (uint64_t)(k * 1000 + i));
      struct iovec parts[3] = {{text, 1}, {text + 1, size / 2}, {text + 1 + size / 2, size - 1 - size / 2}};
      CHECK(writev(s[0], parts, 3) == (ssize_t)size);
    }
    _exit(0);
  }
  for (int k = 0; k < kSenders; k++) CHECK(exit_status(senders[k]) == 0);
  for (int k = 0; k < kReceivers; k++) CHECK(send(s[0], "e", 1, 0) == 1);
  for (int k = 0; k < kReceivers; k++) CHECK(exit_status(receivers[k]) == 0);
}

int main(void) {
  run(SOCK_DGRAM, "dgram");
  run(SOCK_SEQPACKET, "seqpacket");
  return 0;
}

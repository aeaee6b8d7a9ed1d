// Reads random bytes from outside, its argument in megabytes, and shows their hash.
// e2e: varies args=2
#include "common.h"

int main(int argc, char** argv) {
  int fd = open("/dev/urandom", O_RDONLY), megabytes = argc > 1 ? atoi(argv[1]) : 1;
  CHECK(fd >= 0);
  static char block[65536];
  for (int m = 0; m < megabytes; m++) {
    uint32_t hash = HASH_START;
    for (int i = 0; i < 16; i++) {
      CHECK(read_all(fd, block, sizeof block) == sizeof block);
      hash = hash_bytes(hash, block, sizeof block);
    }
    say("megabyte %d: %08x\n", m, hash);
  }
  return 0;
}

// Randomness: getrandom, /dev/urandom, getentropy, AT_RANDOM, arc4random, rand seeded by them.
// e2e: varies
#include <sys/auxv.h>
#include <sys/random.h>

#include "common.h"

static void show(const char* what, const unsigned char* bytes, size_t n) {
  char text[100] = "";
  for (size_t i = 0; i < n; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
  say("%s: %s\n", what, text);
}

int main(void) {
  unsigned char bytes[16];
  CHECK(getrandom(bytes, sizeof bytes, 0) == sizeof bytes);
  show("getrandom", bytes, sizeof bytes);
  CHECK(getentropy(bytes, sizeof bytes) == 0);
  show("getentropy", bytes, sizeof bytes);
  int fd = open("/dev/urandom", O_RDONLY);
  CHECK(fd >= 0 && read_all(fd, bytes, sizeof bytes) == sizeof bytes);
  show("urandom", bytes, sizeof bytes);
  show("AT_RANDOM", (const unsigned char*)getauxval(AT_RANDOM), 16);
  arc4random_buf(bytes, sizeof bytes);
  show("arc4random", bytes, sizeof bytes);
  srand(*(unsigned*)bytes);
  say("rand: %d\n", rand());
  return 0;
}

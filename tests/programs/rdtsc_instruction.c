// The time-stamp counter read by an instruction: the values are shown, later ones are larger.
// e2e: varies tsc
#include "common.h"

static uint64_t rdtsc(void) {
  uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return (uint64_t)high << 32 | low;
}

int main(void) {
  uint64_t last = 0;
  for (int i = 0; i < 5; i++) {
    uint64_t now = rdtsc();
    CHECK(now > last);
    say("%lu\n", (unsigned long)now);
    last = now;
  }
  return 0;
}

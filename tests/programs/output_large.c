// A megabyte to standard output in pieces of all sizes, some of it to standard error in between.
// e2e: stable
#include "common.h"

int main(void) {
  static char buffer[20000];
  size_t total = 0;
  for (int i = 0; total < 1 << 20; i++) {
    size_t n = (size_t)(i * 7919 % 20000);
    for (size_t k = 0; k < n; k++) buffer[k] = (char)(k % 80 == 79 ? '\n' : 'a' + (k + (size_t)i) % 26);
    if (n > 0) write_all(1, buffer, n);
    total += n;
    if (i % 10 == 0) dprintf(2, "%zu bytes so far\n", total);
  }
  printf("\n%zu bytes\n", total);
  return 0;
}

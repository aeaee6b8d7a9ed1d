// Built with AddressSanitizer: a heap overflow, reported with its stack, status 1.
// e2e: varies exit=1
#include "common.h"

int main(void) {
  volatile char* volatile block = malloc(10);
  say("about to write behind the block\n");
  block[10] = 'x';
  say("not reached\n");
  return 0;
}

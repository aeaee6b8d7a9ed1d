// setjmp and longjmp across frames, with calls in between.
// e2e: stable
#include <setjmp.h>

#include "common.h"

static jmp_buf target;

static void descend(int depth) {
  say("depth %d\n", depth);
  if (depth == 3) longjmp(target, 17);
  if (depth < 10) descend(depth + 1);
}

int main(void) {
  volatile int rounds = 0;
  int value = setjmp(target);
  say("value %d, round %d\n", value, rounds);
  if (++rounds < 3) descend(0);
  return 0;
}

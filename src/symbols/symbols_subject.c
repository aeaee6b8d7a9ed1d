// Waits in poll(), called by inner(), called by outer(), called by main(): symbols_test looks at it.
#include <poll.h>
#include <unistd.h>

__attribute__((noinline)) int inner(int depth) {
  int result = poll(0, 0, -1);  // line 6
  return result + depth;
}

__attribute__((noinline)) int outer(int depth) {
  int result = inner(depth + 1);  // line 11
  if (result > 7) {
    volatile int more = depth;
    result += more;
  }
  return result * 2;
}

int main(void) { return outer(1); }

// A program that is not position-independent: its addresses, and a child with the same ones.
// e2e: varies
#include "common.h"

static int data = 1;

int main(void) {
  int stack;
  void* heap = malloc(100);
  pid_t pid = fork_checked();
  if (pid != 0) CHECK(exit_status(pid) == 0);
  say("%s: function %p data %p stack %p heap %p\n", pid == 0 ? "child" : "parent", (void*)(uintptr_t)main,
      (void*)&data, (void*)&stack, heap);
  return 0;
}

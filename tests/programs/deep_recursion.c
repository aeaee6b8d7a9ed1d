// Six megabytes of stack by recursion, in the main thread, with calls on the way.
// e2e: stable
#include "common.h"

static uint32_t descend(int depth, uint32_t hash) {
  volatile char frame[1024];
  frame[depth % 1024] = (char)depth;
  hash = hash_bytes(hash, (const void*)&depth, sizeof depth);
  if (depth % 1000 == 0) say("depth %d\n", depth);
  if (depth == 6000) return hash;
  return descend(depth + 1, hash) + (uint32_t)frame[depth % 1024];
}

int main(void) {
  uint32_t hash = descend(0, HASH_START);
  say("hash %08x\n", hash);
  return 0;
}

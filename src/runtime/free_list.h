// A stack of indices in shared memory, without a lock that a killed process could keep: tag << 32 | (index + 1).
#pragma once

#include "sys.h"

namespace pastcone::runtime {

inline void push_free(u64& stack, u32* links, u32 index) {
  for (;;) {
    u64 head = load(stack);
    links[index] = (u32)head;
    if (swap_if(stack, head, ((head >> 32) + 1) << 32 | (index + 1))) return;
  }
}

inline bool pop_free(u64& stack, u32* links, u32& index) {
  for (;;) {
    u64 head = load(stack);
    if (!(u32)head) return false;
    u32 next = load(links[(u32)head - 1]);
    if (swap_if(stack, head, ((head >> 32) + 1) << 32 | next)) {
      index = (u32)head - 1;
      return true;
    }
  }
}

}  // namespace pastcone::runtime

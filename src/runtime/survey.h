// What survey.cc keeps while it looks for a good place to stop a thread.
#pragma once

#include "operand.h"

namespace pastcone::runtime {

struct Survey {
  static constexpr u32 kTouched = 1 << 14;
  struct Copy {
    u64 begin, end;
    char* bytes;
  };

  bool copied;
  u64 marker;             ///< the log's hash then: it changes with each call
  u64 computed;           ///< ns the thread had run by then
  Copy stack, data, heap;
  u64 began;              ///< in ticks
  u32 attempts;           ///< surveys that came to nothing since

  u32 steps, anchor_step;
  bool anchored;
  bool seeking;           ///< on its way to a place with more room for a jump
  bool settled;           ///< is there
  u64 anchor[18];         ///< registers at the place whose next pass is waited for
  u64 better_rip, better_rsp;
  u64 skip_to;            ///< 0, or behind a repeated instruction: there is an int3 instead of
  u8 skip_byte;
  Machine machine;        ///< the instruction that is being executed

  u32 generation;         ///< of the entries in `touched` that count
  u32 touched_count;
  struct {
    u64 address, value;
    u32 generation;
  } touched[kTouched];    ///< words that were used since the anchor, as they were before

  char stack_bytes[40 << 10];
  char data_bytes[256 << 10];
  char heap_bytes[4 << 20];
};

}  // namespace pastcone::runtime

// What survey.cc keeps while it looks for a good place to stop a thread.
#pragma once

#include "operand.h"

namespace pastcone::runtime {

struct Survey {
  static constexpr u32 kTouched = 1 << 14;
  static constexpr u32 kRun = 5, kGroups = 64;
  static constexpr u64 kNearby = 4096;
  struct Copy {
    u64 begin, end;
    char* bytes;
  };
  /// Where replay has room for its jump: in one instruction, or in several of which only the first is jumped to. 0: none seen.
  struct Rooms {
    u64 single, group;
    u64 best() const { return single ? single : group; }
  };

  bool copied;
  u64 marker;             ///< the log's hash then: it changes with each call
  u64 computed;           ///< ns the thread had run by then
  Copy stack, outer, data, heap;  ///< outer: where the first thread's stack begins, if that is far
  u64 began;              ///< in ticks
  u32 attempts;           ///< surveys that came to nothing since

  u32 steps, anchor_step;
  bool anchored;
  bool seeking;           ///< on its way to a place with more room for a jump
  bool settled;           ///< is there
  u64 anchor[18];         ///< registers at the place whose next pass is waited for
  Rooms first, newest;    ///< the first since the anchor, the newest of all
  u64 sought;             ///< where it is on its way to,
  u32 sought_until, last_step;  ///< at the end of all steps only until there, and where it is stopped if that is not reached
  u32 run_count;          ///< instructions that were executed one behind the other, with no jump between them,
  u64 run[kRun];          ///< the newest of them, and
  u64 run_end;            ///< where they end
  struct {
    u64 rip;
    bool free;
  } groups[kGroups];      ///< whether jumps lead inside
  u64 skip_to;            ///< 0, or behind a repeated instruction: there is an int3 instead of
  u8 skip_byte;
  Machine machine;        ///< the instruction that is being executed

  u32 generation;         ///< of the entries in `touched` that count
  u32 touched_count;
  struct {
    u64 address, value;
    u32 generation;
  } touched[kTouched];    ///< words that were used since the anchor, as they were before

  u8 nearby[2 * kNearby + 8];  ///< code around a group
  char stack_bytes[40 << 10];
  char outer_bytes[8 << 10];
  char data_bytes[256 << 10];
  char heap_bytes[4 << 20];
};

}  // namespace pastcone::runtime

// What a thread keeps about its next asynchronous point; see async.h.
#pragma once

#include "sys.h"

namespace pastcone::runtime {

inline constexpr u32 kMostWords = 48;

/// Payload of kAsync, without the words that are not used.
struct AsyncPoint {
  u64 registers[18];      ///< rax rbx rcx rdx rsi rdi rbp rsp r8…r15 rip rflags
  u64 changed_registers;  ///< bit set in that order: those that were others the last time the thread came by
  u64 count;
  struct Word {
    u64 address, value;
  } words[kMostWords];    ///< memory that the thread had changed a short time before

  u64 size() const { return offsetof(AsyncPoint, words) + count * sizeof(Word); }
};

struct Survey;

struct AsyncState {
  // record
  Survey* survey;
  u64 marker;             ///< the log's hash when it was last interrupted inside the runtime
  bool surveying;         ///< the trap flag is set
  u64 cost;               ///< of the last survey, in ticks,
  u64 rest;               ///< and how long the thread may then keep the turn undisturbed
  bool quick;             ///< the others gave the turn back soon
  // replay
  bool armed, stepping;
  u32 misses;
  u64 near_address, near_recorded, near_actual;  ///< a word that was another although all registers were right
  u64 at;                 ///< where the breakpoint lies: at the point, or at a comparison that leads there
  u32 overwritten;        ///< how many bytes there are ours now
  u8 original[8];         ///< what they were
  u64 stub, stub_hit;     ///< 0: a plain breakpoint
  AsyncPoint point;
};

}  // namespace pastcone::runtime

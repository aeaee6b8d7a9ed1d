// Stopping at one pass of many over a place of the program, in replay: what the director and the runtimes tell each other
// of it, and leave for whoever looks at the process. Freestanding, as layout.h, of which it is a part.
#pragma once

#include <cstdint>

namespace pastcone::stage {

/// Where the program is while a thread is in a stub, for who looks at the process. It lies at the end of the stub's page.
struct StubMap {
  static constexpr uint64_t kMark = 0x50414d4255545350;  // "PSTUBMAP"
  static constexpr uint32_t kMost = 6;
  uint64_t mark;
  uint64_t at;                 ///< where the jump lies; in the stub there is a comparison first, then
  uint32_t moved, left, end;   ///< the instructions that the jump has displaced, from this offset on, and a jump back; then more of the comparison,
  uint32_t rax_saved;          ///< which uses rax from here on, and rcx from the beginning
  uint32_t count;
  struct { uint32_t offset, distance; } instructions[kMost];  ///< in the stub, and from `at`; the last is the jump back
};

/// Replay: a place where a thread is to stop once its registers and some words of memory have given values, which may take
/// millions of passes. The director writes the code that compares them, since the runtime cannot take instructions apart.
struct Breakpoint {
  uint32_t lock;            ///< owner's tid
  uint32_t state;           ///< futex: BreakpointState
  uint64_t rip;
  uint64_t stub;            ///< where the code will lie
  uint64_t from;            ///< where the thread goes on
  uint64_t registers[18];   ///< in the order of the payload of kAsync
  uint64_t compared;        ///< bit set: which registers tell one pass from another
  uint32_t word_count;
  uint32_t code_begin, code_end;  ///< which part of `code` is filled
  uint32_t stub_size;       ///< the answer: bytes of `bytes`,
  uint32_t hit;             ///< offset of the int3 in it that says that all is equal,
  uint32_t resume;          ///< offset of the instruction at `from` in it, if that is one of those that are displaced; else 0
  uint32_t before;          ///< the jump to it lies that much before rip, at a comparison that leads there and sets the flags;
  uint32_t displaced;       ///< bytes that the jump may overwrite; 0: there is no room for it
  StubMap map;
  struct {
    uint64_t address, value;
  } words[48];              ///< as many as kAsync may have
  uint8_t bytes[2560];
  uint8_t code[8192];       ///< of the program; rip is in the middle
};
enum class BreakpointState : uint32_t { kFree = 0, kWanted = 1, kReady = 2 };

}  // namespace pastcone::stage

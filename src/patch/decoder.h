// One x86-64 instruction, with what patching has to know about it. The only place that sees Zydis.
#pragma once

#include <cstdint>
#include <optional>

#include "pastcone/base/bytes.h"
#include "pastcone/patch/abi.h"

namespace pastcone::patch {

/// Where control goes after an instruction.
enum class Flow : uint8_t {
  kNext,
  kBranch,        ///< to a direct target or on: jcc
  kJump,          ///< to a direct target
  kIndirectJump,  ///< elsewhere
  kReturn,
  kEnd,    ///< nowhere: hlt, ud2
  kOther,  ///< calls, loop, jrcxz, xbegin, interrupts: what cannot be moved
};

struct Instruction {
  uint64_t address = 0;
  uint8_t length = 0;
  Flow flow = Flow::kNext;
  bool is_padding = false;  ///< a nop or an int3
  bool is_lea = false;
  bool is_compare = false;      ///< cmp or test: it sets flags, and nothing else
  bool is_call = false;         ///< to a direct target
  bool is_site = false;         ///< one of those to redirect; then `descriptor` says which
  bool is_movable = true;       ///< false: relative to %rip in a way that we do not re-encode
  uint8_t condition = 0;        ///< of a kBranch: 0-15 as instructions encode it
  uint8_t displacement_at = 0;  ///< offset of the disp32 in an operand relative to %rip; 0: it has none
  Descriptor descriptor = 0;
  uint64_t target = 0;     ///< of a direct jump, branch or call (also kOther); 0: it has none
  uint64_t reference = 0;  ///< what an operand relative to %rip refers to
  uint64_t constant = 0;   ///< an immediate of 32 or 64 bits, sign extended as the instruction does

  uint64_t end() const { return address + length; }
  bool falls_through() const { return flow == Flow::kNext || flow == Flow::kBranch || flow == Flow::kOther; }
  Kind kind() const { return descriptor_kind(descriptor); }
};

/// The instruction at the start of `bytes`, which lies at `address`; nothing if it is not a valid one.
std::optional<Instruction> decode(ByteView bytes, uint64_t address);

}  // namespace pastcone::patch

// Which instructions are done by copies (instruction_copies.h), and what their operands are. What is not
// named here is for the process.
#pragma once

#include <cstdint>
#include <optional>

namespace pastcone::replay {

/// What says which instruction it is.
struct InstructionName {
  enum class Encoding : uint8_t { kLegacy, kVex, kEvex };
  enum class Prefix : uint8_t { kNone, k66, kF3, kF2 };
  Encoding encoding = Encoding::kLegacy;
  Prefix prefix = Prefix::kNone;
  uint8_t map = 0;  ///< 0: one byte, 1: behind 0f, 2: 0f 38, 3: 0f 3a
  uint8_t operation = 0;
  uint8_t field = 0;  ///< the middle one of the ModRM byte, which may be part of the name
  bool wide = false;
  uint8_t length = 16;  ///< of the vectors

  bool is_legacy() const { return encoding == Encoding::kLegacy; }
};

/// An operand that is not general is a vector, a mask, or there is none.
struct CopiedForm {
  uint8_t size = 0;         ///< of the operand that may be in memory, if it is
  uint8_t immediate = 0;    ///< bytes behind it
  bool vectors = false;     ///< it is one of those for vectors
  bool sets_flags = false;  ///< of those for vectors; of the others all may
  bool bare = false;        ///< there is no ModRM byte
  bool reg_general = false, reg_written = false;
  bool reg_is_name = false;
  bool reg_is_mask = false;
  bool maskable = false;  ///< what a mask leaves out is not read, or is as it was, or zero
  bool rm_general = false, rm_read = false, rm_written = false;
  bool rm_is_mask = false;
  bool register_only = false, memory_only = false;
  bool bytes = false;      ///< its general registers are bytes
  bool aligned = false;    ///< memory must be
  bool third = false;      ///< VEX and EVEX name one more operand
  bool third_general = false, third_written = false;  ///< which is a vector else, and then not written
  bool may_lock = false;   ///< with a lock prefix
  bool by_count = false;   ///< cl, or the immediate, which writes nothing if it is 0
  bool exchanges = false;  ///< writes what it is about only if that is rax
};

std::optional<CopiedForm> general_form(const InstructionName& name);
std::optional<CopiedForm> bit_form(const InstructionName& name);
std::optional<CopiedForm> vector_form(const InstructionName& name);

}  // namespace pastcone::replay

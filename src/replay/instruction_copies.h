// An instruction of a traced process, done by the processor here: a copy of it, which has our memory and
// registers for its operands. So all results are what they are there, whatever it computes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace pastcone::replay {

/// How a copy names its operands.
struct CopiedOperands {
  static constexpr unsigned kReg = 8, kRm = 9, kMemory = 10, kThird = 11;  ///< the registers that they are in
  uint64_t reg = 0, rm = 0;  ///< if they are general registers
  uint64_t rax = 0, rcx = 0;
  uint64_t flags = 0;
  uint64_t components = 0;  ///< of the vector state that it uses, as xsave numbers them
  uint64_t control = 0;     ///< mxcsr, ours
  uint64_t third = 0;       ///< as reg and rm
  alignas(64) std::array<uint8_t, 64> memory;
};

/// Its bytes, of which there are never more; zeros behind them.
struct CopiedCode {
  alignas(16) std::array<uint8_t, 16> bytes{};
  uint8_t size = 0;

  void add(unsigned byte) { bytes[size++] = static_cast<uint8_t>(byte); }
  bool operator==(const CopiedCode&) const = default;
};

/// What it has to do with beside general registers.
struct CopiedSurroundings {
  enum class Vectors : uint8_t { kNone, kNamed, kAll };
  Vectors vectors = Vectors::kNone;         ///< kNamed: these two xmm, and no part of others
  std::array<uint8_t, 2> named = {16, 16};  ///< 16: none
  bool flags = true;
  bool third = false;  ///< a general register
};

class InstructionCopies {
 public:
  /// One for all: what has been copied once is kept.
  static InstructionCopies& instance();
  InstructionCopies(const InstructionCopies&) = delete;
  InstructionCopies& operator=(const InstructionCopies&) = delete;

  /// `vectors`: what xsave has left of the process, which becomes what it is then. False: there is no room
  /// for code. What is around a copy must follow from it.
  bool run(const CopiedCode& copy, const CopiedSurroundings& around, CopiedOperands& operands,
           uint8_t* vectors);

 private:
  using Code = void (*)(CopiedOperands*, uint8_t*);
  InstructionCopies();
  struct Hash {
    size_t operator()(const CopiedCode& copy) const;
  };
  Code make(const CopiedCode& copy, const CopiedSurroundings& around);
  std::vector<uint8_t> surround(const CopiedCode& copy, const CopiedSurroundings& around) const;

  uint8_t* room_ = nullptr;
  size_t used_ = 0;
  bool has_avx_;
  std::unordered_map<CopiedCode, Code, Hash> known_;
};

}  // namespace pastcone::replay

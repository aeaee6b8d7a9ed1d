// What emulate() is made of. Private to it.
#pragma once

#include <optional>

#include "pastcone/replay/emulate.h"
#include "pastcone/replay/instruction_parts.h"

namespace pastcone::replay {

struct CopiedCode;
struct CopiedForm;
struct CopiedSurroundings;

class Emulation {
 public:
  Emulation(std::span<const uint8_t> code, user_regs_struct& registers, const EmulationBounds& bounds)
      : code_(code), r_(registers), bounds_(bounds) {}

  bool run();
  /// What run() does not do, by a copy of it.
  bool run_copied();
  bool run_repeated();

 private:
  /// A register, or memory.
  struct Operand {
    bool in_memory = false;
    unsigned number = 0;
    uint64_t address = 0;
  };

  uint8_t byte() {
    if (at_ >= code_.size()) {
      short_ = true;
      return 0;
    }
    return code_[at_++];
  }
  int64_t signed_byte() { return static_cast<int8_t>(byte()); }
  int64_t signed_word() {
    uint32_t word = 0;
    for (unsigned i = 0; i < 4; ++i) word |= uint32_t{byte()} << 8 * i;
    return static_cast<int32_t>(word);
  }
  unsigned width() const { return wide_ ? 8 : 4; }

  /// `after`: bytes of the instruction behind it, which operands relative to rip count from the end of.
  Operand modrm(unsigned after);
  bool may_touch(uint64_t address, unsigned size, bool writes) const;
  bool read_memory(uint64_t address, void* to, unsigned size) const;
  bool write_memory(uint64_t address, const void* from, unsigned size);
  std::optional<uint64_t> load(const Operand& operand, unsigned size) const;
  std::optional<uint64_t> load(const Operand& operand) const { return load(operand, width()); }
  bool extend(const Operand& from, unsigned size, bool with_sign);
  bool store(const Operand& operand, uint64_t value, unsigned size);
  bool store(const Operand& operand, uint64_t value) { return store(operand, value, width()); }
  bool arithmetic(unsigned operation, const Operand& left, uint64_t right);
  bool test(const Operand& left, uint64_t right);
  bool pop_flags();
  bool run_two_bytes();

  // emulate_called.cc
  bool run_called(uint8_t operation);
  bool run_called_two_bytes(uint8_t operation);
  bool run_bytes(uint8_t operation);
  bool is_byte(const Operand& operand) const { return operand.in_memory || operand.number < 4 || has_rex_; }
  bool push(uint64_t value);
  bool pop(uint64_t& value);
  bool shift(unsigned operation, const Operand& left, uint8_t count);
  bool multiply(const Operand& left, int64_t right);
  bool group_three();
  bool group_five();
  bool widen(unsigned kind, uint64_t operand);
  bool can_divide(uint64_t divisor, bool with_sign) const;
  bool byte_arithmetic(unsigned operation, const Operand& left, uint64_t right);

  // emulate_copied.cc
  struct Head;
  bool read_prefixes(Head& head);
  bool read_vex(Head& head, bool is_long);
  bool read_evex(Head& head);
  bool read_head(Head& head);
  CopiedCode copy_of(const Head& head, const CopiedForm& form, const Operand& rm,
                     std::span<const uint8_t> immediate) const;
  CopiedSurroundings surroundings(const Head& head, const CopiedForm& form, const Operand& rm) const;
  bool may_copy(const Head& head, const CopiedForm& form, const Operand& rm) const;

  /// Elsewhere nothing can be: the instruction that would lead there faults.
  static bool is_place(uint64_t address) { return address >> 47 == 0; }
  /// As the processor is to find them: what an instruction leaves without a meaning may depend on them.
  uint64_t flags_before() const { return (r_.eflags & kArithmeticFlags) | kAlwaysSet; }
  void set_flags(uint64_t flags) { r_.eflags = (r_.eflags & ~kArithmeticFlags) | flags; }
  bool next() {
    if (short_) return false;
    r_.rip += at_;
    return true;
  }
  bool jump(int64_t distance, bool taken) {
    if (short_) return false;
    r_.rip += at_ + (taken ? static_cast<uint64_t>(distance) : 0);
    return true;
  }

  std::span<const uint8_t> code_;
  user_regs_struct& r_;
  const EmulationBounds& bounds_;
  size_t at_ = 0;
  bool short_ = false, wide_ = false, has_rex_ = false;
  unsigned extend_reg_ = 0, extend_index_ = 0, extend_base_ = 0;  ///< 8 or 0, from the REX prefix
  unsigned reg_ = 0;                                              ///< the other field of the ModRM byte
};

}  // namespace pastcone::replay

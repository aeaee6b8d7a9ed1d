// What is done by a copy of the instruction (instruction_copies.h): its operands are fetched, it is told to
// find them where we have them, and what it leaves there is the result.
#include <cstring>
#include <utility>

#include "pastcone/replay/copied_forms.h"
#include "pastcone/replay/emulation.h"
#include "pastcone/replay/instruction_copies.h"
#include "pastcone/replay/vector_state.h"

namespace pastcone::replay {
namespace {

using Encoding = InstructionName::Encoding;
using Prefix = InstructionName::Prefix;

constexpr uint8_t kOperandSize = 0x66, kRepeat = 0xf3, kRepeatNot = 0xf2, kLock = 0xf0, kFs = 0x64,
                  kCs = 0x2e;
constexpr uint8_t kVexShort = 0xc5, kVexLong = 0xc4, kEvexByte = 0x62, kNoThird = 0xf;

uint64_t low(uint64_t value, unsigned size) {
  return size == 8 ? value : value & ((uint64_t{1} << 8 * size) - 1);
}

}  // namespace

/// What is before the ModRM byte, of whatever encoding.
struct Emulation::Head {
  InstructionName name;
  bool locks = false, in_fs = false;
  uint8_t third = kNoThird;            ///< as it stands there, of VEX and EVEX: all bits are turned round
  uint8_t evex[3] = {};                ///< behind the first byte
  unsigned high_reg = 0, high_rm = 0;  ///< 16 or 0, of EVEX
};

bool Emulation::read_prefixes(Head& head) {
  for (;;) {
    uint8_t prefix = at_ < code_.size() ? code_[at_] : 0;
    bool is_first = head.name.prefix == Prefix::kNone;
    switch (prefix) {
      case kOperandSize:
        is_first |= head.name.prefix == Prefix::k66;  // of long nops there are several
        head.name.prefix = Prefix::k66;
        break;
      case kRepeat:
        head.name.prefix = Prefix::kF3;
        break;
      case kRepeatNot:
        head.name.prefix = Prefix::kF2;
        break;
      case kCs:
        ++at_;  // has no meaning any more
        continue;
      case kLock:
        if (std::exchange(head.locks, true)) return false;
        ++at_;
        continue;
      case kFs:
        if (std::exchange(head.in_fs, true)) return false;
        ++at_;
        continue;
      default:
        return true;
    }
    if (!is_first) return false;
    ++at_;
  }
}

bool Emulation::read_vex(Head& head, bool is_long) {
  uint8_t first = byte(), second = is_long ? byte() : first;
  InstructionName& name = head.name;
  name.encoding = Encoding::kVex;
  name.map = is_long ? first & 0x1f : 1;
  name.wide = wide_ = is_long && (second & 0x80) != 0;
  name.length = (second & 4) != 0 ? 32 : 16;
  name.prefix = static_cast<Prefix>(second & 3);
  head.third = second >> 3 & 0xf;
  extend_reg_ = (first & 0x80) != 0 ? 0 : 8;
  extend_index_ = !is_long || (first & 0x40) != 0 ? 0 : 8;
  extend_base_ = !is_long || (first & 0x20) != 0 ? 0 : 8;
  return name.map >= 1 && name.map <= 3;
}

/// Nothing is made of one element.
bool Emulation::read_evex(Head& head) {
  for (uint8_t& one : head.evex) one = byte();
  InstructionName& name = head.name;
  name.encoding = Encoding::kEvex;
  name.map = head.evex[0] & 7;
  name.wide = wide_ = (head.evex[1] & 0x80) != 0;
  name.prefix = static_cast<Prefix>(head.evex[1] & 3);
  unsigned length = head.evex[2] >> 5 & 3;
  name.length = static_cast<uint8_t>(16 << length);
  head.third = head.evex[1] >> 3 & 0xf;
  extend_reg_ = (head.evex[0] & 0x80) != 0 ? 0 : 8;
  extend_index_ = (head.evex[0] & 0x40) != 0 ? 0 : 8;
  extend_base_ = (head.evex[0] & 0x20) != 0 ? 0 : 8;
  head.high_reg = (head.evex[0] & 0x10) != 0 ? 0 : 16;
  head.high_rm = (head.evex[0] & 0x40) != 0 ? 0 : 16;
  bool fixed = (head.evex[0] & 8) == 0 && (head.evex[1] & 4) != 0;
  constexpr uint8_t kRepeats = 0x10;
  return fixed && (head.evex[2] & kRepeats) == 0 && length < 3 && name.map >= 1 && name.map <= 3;
}

bool Emulation::read_head(Head& head) {
  if (!read_prefixes(head)) return false;
  uint8_t first = byte();
  if (first == kVexShort || first == kVexLong || first == kEvexByte) {
    if (head.locks || head.name.prefix != Prefix::kNone) return false;
    if (!(first == kEvexByte ? read_evex(head) : read_vex(head, first == kVexLong))) return false;
    head.name.operation = byte();
    return !short_;
  }
  if ((first & 0xf0) == 0x40) {
    has_rex_ = true;
    wide_ = (first & 8) != 0;
    extend_reg_ = (first & 4) != 0 ? 8 : 0;
    extend_index_ = (first & 2) != 0 ? 8 : 0;
    extend_base_ = (first & 1) != 0 ? 8 : 0;
    first = byte();
  }
  head.name.wide = wide_;
  if (first == 0x0f) {
    first = byte();
    head.name.map = first == 0x38 ? 2 : first == 0x3a ? 3 : 1;
    if (head.name.map != 1) first = byte();
  }
  head.name.operation = first;
  return !short_;
}

/// The same with other operands: where CopiedOperands has them.
CopiedCode Emulation::copy_of(const Head& head, const CopiedForm& form, const Operand& rm,
                              std::span<const uint8_t> immediate) const {
  const InstructionName& name = head.name;
  unsigned reg = form.reg_general ? CopiedOperands::kReg : reg_ | head.high_reg;
  unsigned other = rm.in_memory      ? CopiedOperands::kMemory
                   : form.rm_general ? CopiedOperands::kRm
                                     : rm.number | head.high_rm;
  if (form.reg_is_name) reg = reg_ & 7;
  unsigned third = form.third_general ? kNoThird - CopiedOperands::kThird : head.third;
  auto bit = [](unsigned number, unsigned which, unsigned as) { return (number & which) != 0 ? as : 0; };
  CopiedCode copy;
  auto add = [&](unsigned one) { copy.add(one); };
  if (name.is_legacy()) {
    constexpr uint8_t kPrefixes[] = {0, kOperandSize, kRepeat, kRepeatNot};
    if (name.prefix != Prefix::kNone) add(kPrefixes[static_cast<unsigned>(name.prefix)]);
    add(0x40 | (name.wide ? 8 : 0) | bit(reg, 8, 4) | bit(other, 8, 1));
    if (name.map > 0) add(0x0f);
    if (name.map > 1) add(name.map == 2 ? 0x38 : 0x3a);
  } else if (name.encoding == Encoding::kVex) {
    add(kVexLong);
    add(name.map | (0xe0 ^ bit(reg, 8, 0x80) ^ bit(other, 8, 0x20)));
    add((name.wide ? 0x80 : 0) | third << 3 | (name.length == 32 ? 4 : 0) |
        static_cast<unsigned>(name.prefix));
  } else {
    add(kEvexByte);
    unsigned above = rm.in_memory || form.rm_general ? 0 : bit(other, 16, 0x40);
    add(name.map | (0xf0 ^ bit(reg, 8, 0x80) ^ above ^ bit(other, 8, 0x20) ^ bit(reg, 16, 0x10)));
    add(head.evex[1]);
    add(head.evex[2]);
  }
  add(name.operation);
  if (!form.bare) add((rm.in_memory ? 0 : 0xc0) | (reg & 7) << 3 | (other & 7));
  for (uint8_t one : immediate) add(one);
  return copy;
}

/// The older encoding touches no other vectors than it names, and nothing beside their lower parts.
CopiedSurroundings Emulation::surroundings(const Head& head, const CopiedForm& form,
                                           const Operand& rm) const {
  using Vectors = CopiedSurroundings::Vectors;
  CopiedSurroundings around;
  around.flags = !form.vectors || form.sets_flags;
  around.third = form.third_general;
  if (!form.vectors) return around;
  around.vectors = head.name.is_legacy() ? Vectors::kNamed : Vectors::kAll;
  if (!form.reg_general && !form.reg_is_name) around.named[0] = static_cast<uint8_t>(reg_);
  if (!form.rm_general && !rm.in_memory) around.named[1] = static_cast<uint8_t>(rm.number);
  return around;
}

/// Whether the processor would do it at all, and always in the same way.
bool Emulation::may_copy(const Head& head, const CopiedForm& form, const Operand& rm) const {
  const InstructionName& name = head.name;
  if (head.locks && (!form.may_lock || !rm.in_memory)) return false;
  if (rm.in_memory ? form.register_only : form.memory_only) return false;
  if (rm.in_memory && form.aligned && rm.address % form.size != 0) return false;
  bool has_third = head.third != kNoThird || (name.encoding == Encoding::kEvex && (head.evex[2] & 8) == 0);
  if (!name.is_legacy() && !form.third && has_third) return false;
  bool masked = name.encoding == Encoding::kEvex && (head.evex[2] & 7) != 0;
  constexpr uint8_t kZeroes = 0x80;
  bool zeroes = name.encoding == Encoding::kEvex && (head.evex[2] & kZeroes) != 0;
  if (masked && !form.reg_is_mask && !form.maskable) return false;
  if (zeroes && !(masked && form.maskable)) return false;
  if (form.reg_is_mask && (reg_ > 7 || head.high_reg != 0)) return false;
  if (form.rm_is_mask && rm.number > 7) return false;
  bool same = !rm.in_memory && rm.number == reg_;
  if (form.reg_general && form.reg_written && form.rm_written && same) return false;
  bool reg_is_byte = !form.reg_general || reg_ < 4 || has_rex_;
  return !form.bytes || (is_byte(rm) && reg_is_byte);
}

bool Emulation::run_copied() {
  Head head;
  if (!read_head(head)) return false;
  uint8_t shape = at_ < code_.size() ? code_[at_] : 0;
  head.name.field = shape >> 3 & 7;
  if (head.name.is_legacy() && head.name.map == 1 && head.name.operation == 0x1f && !head.locks) {  // nop
    modrm(0);
    return next();
  }
  auto form = general_form(head.name);
  if (!form) form = bit_form(head.name);
  if (!form) form = vector_form(head.name);
  if (!form || (form->vectors && (head.locks || bounds_.vectors == nullptr))) return false;
  Operand rm = form->bare ? Operand{} : modrm(form->immediate);
  // Of EVEX, short distances are so many vectors.
  if (head.name.encoding == Encoding::kEvex && shape >> 6 == 1)
    rm.address += static_cast<uint64_t>(int64_t{static_cast<int8_t>(code_[at_ - 1])} * (form->size - 1));
  if (head.in_fs) rm.address += r_.fs_base;
  if (short_ || at_ + form->immediate > code_.size() || !may_copy(head, *form, rm)) return false;
  std::span<const uint8_t> immediate = code_.subspan(at_, form->immediate);
  at_ += form->immediate;

  CopiedOperands operands;
  bool zero = ((immediate.empty() ? r_.rcx : immediate.back()) & (wide_ ? 63 : 31)) == 0;
  if (form->by_count && zero && rm.in_memory) return false;
  if (form->reg_general) operands.reg = register_of(r_, reg_);
  if (form->rm_general && !rm.in_memory) operands.rm = register_of(r_, rm.number);
  unsigned third = kNoThird - head.third;
  if (form->third_general) operands.third = register_of(r_, third);
  operands.rax = r_.rax;
  operands.rcx = r_.rcx;
  operands.flags = flags_before();
  if (rm.in_memory && form->rm_read && !read_memory(rm.address, operands.memory.data(), form->size))
    return false;
  if (form->exchanges) {
    uint64_t there = 0;
    std::memcpy(&there, operands.memory.data(), form->size);
    if (there != low(r_.rax, form->size)) return false;
  }
  uint8_t* vectors = nullptr;
  if (form->vectors) {
    vectors = bounds_.vectors->change();
    if (vectors == nullptr || !bounds_.vectors->is_quiet()) return false;
    operands.components = bounds_.vectors->components();
  }
  CopiedCode copy = copy_of(head, *form, rm, immediate);
  if (!InstructionCopies::instance().run(copy, surroundings(head, *form, rm), operands, vectors))
    return false;
  if (rm.in_memory && form->rm_written && !write_memory(rm.address, operands.memory.data(), form->size))
    return false;
  if (form->reg_general && form->reg_written) register_of(r_, reg_) = operands.reg;
  if (form->rm_general && form->rm_written && !rm.in_memory) register_of(r_, rm.number) = operands.rm;
  if (form->third_written) register_of(r_, third) = operands.third;
  set_flags(operands.flags & kArithmeticFlags);
  return next();
}

}  // namespace pastcone::replay

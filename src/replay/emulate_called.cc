// What functions are made of beside what breakpoints lie at: calls and returns, multiplication, shifts,
// bytes.
#include <cstdint>

#include "pastcone/replay/emulation.h"

namespace pastcone::replay {
namespace {

/// One operand, by the processor itself, so that all flags are right.
#define ALTER(operation)                                             \
  asm volatile("lea -128(%%rsp), %%rsp; pushq %1; popfq; " operation \
               "; pushfq; popq %1; lea 128(%%rsp), %%rsp"            \
               : "+r"(value), "+&r"(flags)                           \
               : "c"(count)                                          \
               : "cc", "memory")

/// rdx:rax and an operand.
#define WIDEN(operation)                                             \
  asm volatile("lea -128(%%rsp), %%rsp; pushq %2; popfq; " operation \
               "; pushfq; popq %2; lea 128(%%rsp), %%rsp"            \
               : "+a"(low), "+d"(high), "+&r"(flags)                 \
               : "r"(operand)                                        \
               : "cc", "memory")

constexpr unsigned kMultiply = 4, kMultiplySigned = 5, kDivide = 6, kDivideSigned = 7, kWide = 8;

enum class Change { kShiftLeft, kShiftRight, kShiftSigned, kNegate, kIncrement, kDecrement };

/// `flags`: those before, as are all that these change.
template <typename Word>
uint64_t multiplied(Word& left, Word right, uint64_t flags) {
  asm volatile("lea -128(%%rsp), %%rsp; pushq %1; popfq; imul %2, %0; pushfq; popq %1; lea 128(%%rsp), %%rsp"
               : "+r"(left), "+&r"(flags)
               : "r"(right)
               : "cc", "memory");
  return flags & kArithmeticFlags;
}

template <typename Word>
uint64_t altered(Change change, Word& value, uint8_t count, uint64_t flags) {
  switch (change) {
    case Change::kShiftLeft:
      ALTER("shl %%cl, %0");
      break;
    case Change::kShiftRight:
      ALTER("shr %%cl, %0");
      break;
    case Change::kShiftSigned:
      ALTER("sar %%cl, %0");
      break;
    case Change::kNegate:
      ALTER("neg %0");
      break;
    case Change::kIncrement:
      ALTER("inc %0");
      break;
    case Change::kDecrement:
      ALTER("dec %0");
      break;
  }
  return flags & kArithmeticFlags;
}

uint64_t altered(Change change, bool wide, uint64_t& value, uint8_t count, uint64_t flags) {
  if (wide) return altered<uint64_t>(change, value, count, flags);
  auto narrow = static_cast<uint32_t>(value);
  flags = altered<uint32_t>(change, narrow, count, flags);
  value = narrow;
  return flags;
}

}  // namespace

bool Emulation::push(uint64_t value) {
  if (!store({true, 0, r_.rsp - 8}, value, 8)) return false;
  r_.rsp -= 8;
  return true;
}

bool Emulation::pop(uint64_t& value) {
  auto found = load({true, 0, r_.rsp}, 8);
  if (!found) return false;
  r_.rsp += 8;
  value = *found;
  return true;
}

bool Emulation::shift(unsigned operation, const Operand& left, uint8_t count) {
  auto value = load(left);
  count &= wide_ ? 63 : 31;
  bool known = operation == 4 || operation == 5 || operation == 7;
  if (!value || !known || short_) return false;
  Change change = operation == 4   ? Change::kShiftLeft
                  : operation == 5 ? Change::kShiftRight
                                   : Change::kShiftSigned;
  uint64_t flags = altered(change, wide_, *value, count, flags_before());
  if (!store(left, *value)) return false;
  if (count != 0) set_flags(flags);
  return next();
}

bool Emulation::multiply(const Operand& left, int64_t right) {
  auto value = load(left);
  if (!value || short_) return false;
  uint64_t flags = 0;
  if (wide_) {
    flags = multiplied<uint64_t>(*value, static_cast<uint64_t>(right), flags_before());
  } else {
    auto narrow = static_cast<uint32_t>(*value);
    flags = multiplied<uint32_t>(narrow, static_cast<uint32_t>(right), flags_before());
    value = narrow;
  }
  if (!store({false, reg_, 0}, *value)) return false;
  set_flags(flags);
  return next();
}

/// By the processor itself: what it leaves in the flags is then the same, even where that has no meaning.
bool Emulation::widen(unsigned kind, uint64_t operand) {
  uint64_t low = r_.rax, high = r_.rdx, flags = flags_before();
  switch (kind | (wide_ ? kWide : 0)) {
    case kMultiply:
      WIDEN("mull %k3");
      break;
    case kMultiplySigned:
      WIDEN("imull %k3");
      break;
    case kDivide:
      WIDEN("divl %k3");
      break;
    case kDivideSigned:
      WIDEN("idivl %k3");
      break;
    case kMultiply | kWide:
      WIDEN("mulq %3");
      break;
    case kMultiplySigned | kWide:
      WIDEN("imulq %3");
      break;
    case kDivide | kWide:
      WIDEN("divq %3");
      break;
    default:
      WIDEN("idivq %3");
      break;
  }
  r_.rax = low;
  r_.rdx = high;
  set_flags(flags & kArithmeticFlags);
  return next();
}

/// What does not fit, or has no result, is for the process.
bool Emulation::can_divide(uint64_t divisor, bool with_sign) const {
  if (divisor == 0) return false;
  auto number = (static_cast<unsigned __int128>(r_.rdx) << 64) | r_.rax;
  if (!wide_) number = (r_.rdx << 32) | (r_.rax & UINT32_MAX);
  if (!with_sign) return number / divisor <= (wide_ ? UINT64_MAX : UINT32_MAX);
  auto signed_number =
      wide_ ? static_cast<__int128>(number) : static_cast<__int128>(static_cast<int64_t>(number));
  int64_t small = wide_ ? static_cast<int64_t>(divisor) : static_cast<int32_t>(divisor);
  constexpr __int128 kLeast = static_cast<__int128>(1) << 127;
  if (signed_number == kLeast && small == -1) return false;
  __int128 result = signed_number / small;
  return wide_ ? result == static_cast<int64_t>(result) : result == static_cast<int32_t>(result);
}

/// test, not, neg, mul, imul, div, idiv
bool Emulation::group_three() {
  bool tests = at_ < code_.size() && (code_[at_] >> 3 & 7) == 0;
  Operand operand = modrm(tests ? 4 : 0);
  auto value = load(operand);
  if (!value || short_) return false;
  uint64_t flags = 0;
  switch (reg_ & 7) {
    case 0:
    case 1:
      return (reg_ & 7) == 0 && test(operand, static_cast<uint64_t>(signed_word()));
    case 2:
      return store(operand, ~*value) && next();
    case 3:
      flags = altered(Change::kNegate, wide_, *value, 0, flags_before());
      if (!store(operand, *value)) return false;
      set_flags(flags);
      return next();
    case kMultiply:
    case kMultiplySigned:
      return widen(reg_ & 7, *value);
    default:
      return can_divide(*value, (reg_ & 7) == kDivideSigned) && widen(reg_ & 7, *value);
  }
}

/// inc, dec, and calls and jumps to where an operand says
bool Emulation::group_five() {
  constexpr uint64_t kCarry = 1;  // stays
  Operand operand = modrm(0);
  unsigned kind = reg_ & 7;
  auto value = load(operand, kind < 2 ? width() : 8);
  if (!value || short_) return false;
  if (kind < 2) {
    uint64_t flags =
        altered(kind == 0 ? Change::kIncrement : Change::kDecrement, wide_, *value, 0, flags_before());
    if (!store(operand, *value)) return false;
    set_flags((flags & ~kCarry) | (r_.eflags & kCarry));
    return next();
  }
  if (kind == 6) return push(*value) && next();
  if ((kind != 2 && kind != 4) || !is_place(*value)) return false;
  if (kind == 2 && !push(r_.rip + at_)) return false;
  r_.rip = *value;
  return true;
}

bool Emulation::byte_arithmetic(unsigned operation, const Operand& left, uint64_t right) {
  auto value = load(left, 1);
  if (!value || !is_byte(left) || operation == 2 || operation == 3 || short_) return false;
  auto narrow = static_cast<uint8_t>(*value);
  uint64_t flags = compute<uint8_t>(operation, narrow, static_cast<uint8_t>(right));
  if (operation != 7 && !store(left, narrow, 1)) return false;
  set_flags(flags);
  return next();
}

bool Emulation::run_bytes(uint8_t operation) {
  constexpr unsigned kRax = 0;
  if (operation == 0xa8) {
    auto flags_of = static_cast<uint8_t>(r_.rax);
    uint8_t right = byte();
    if (short_) return false;
    set_flags(compute<uint8_t>(4, flags_of, right));
    return next();
  }
  if (operation < 0x40 && (operation & 7) == 4)
    return byte_arithmetic(operation >> 3, {false, kRax, 0}, byte());
  bool immediate = operation == 0x80 || operation == 0xc6;
  Operand operand = modrm(immediate ? 1 : 0), other{false, reg_, 0};
  if (!is_byte(operand) || (!immediate && !is_byte(other)) || short_) return false;
  switch (operation) {
    case 0x80:
      return byte_arithmetic(reg_ & 7, operand, byte());
    case 0xc6: {
      uint64_t value = byte();
      return (reg_ & 7) == 0 && store(operand, value, 1) && next();
    }
    case 0x84: {
      auto left = load(operand, 1), right = load(other, 1);
      if (!left || !right) return false;
      auto narrow = static_cast<uint8_t>(*left);
      set_flags(compute<uint8_t>(4, narrow, static_cast<uint8_t>(*right)));
      return next();
    }
    case 0x88:
    case 0x8a: {
      const Operand& from = operation == 0x88 ? other : operand;
      auto value = load(from, 1);
      return value && store(operation == 0x88 ? operand : other, *value, 1) && next();
    }
    default: {  // add, or, …: to memory or from it
      bool from_memory = (operation & 2) != 0;
      auto right = load(from_memory ? operand : other, 1);
      return right && byte_arithmetic(operation >> 3, from_memory ? other : operand, *right);
    }
  }
}

bool Emulation::run_called_two_bytes(uint8_t operation) {
  bool done = holds(operation & 15, r_.eflags);
  if (operation == 0xaf) {
    Operand from = modrm(0);
    auto right = load(from);
    if (!right) return false;
    auto number = wide_ ? static_cast<int64_t>(*right) : static_cast<int32_t>(*right);
    return multiply({false, reg_, 0}, number);
  }
  if ((operation & 0xf0) == 0x40) {
    Operand from = modrm(0);
    auto value = load(from), before = load({false, reg_, 0});
    return value && before && store({false, reg_, 0}, done ? *value : *before) && next();
  }
  if ((operation & 0xf8) == 0xc8) {  // bswap
    Operand both{false, (operation & 7) | extend_base_, 0};
    uint64_t value = __builtin_bswap64(*load(both));
    return store(both, wide_ ? value : value >> 32) && next();
  }
  if ((operation & 0xf0) == 0x90) {
    Operand to = modrm(0);
    return is_byte(to) && store(to, done ? 1 : 0, 1) && next();
  }
  return false;
}

bool Emulation::run_called(uint8_t operation) {
  constexpr unsigned kRax = 0;
  uint64_t value = 0;
  switch (operation) {
    case 0x58 ... 0x5f:
      return pop(value) && store({false, (operation & 7) | extend_base_, 0}, value, 8) && next();
    case 0x68:
    case 0x6a: {
      int64_t number = operation == 0x68 ? signed_word() : signed_byte();
      return push(static_cast<uint64_t>(number)) && next();
    }
    case 0x98:
      r_.rax = wide_ ? static_cast<uint64_t>(static_cast<int32_t>(r_.rax))
                     : static_cast<uint32_t>(static_cast<int16_t>(r_.rax));
      return next();
    case 0x99:
      if (wide_)
        r_.rdx = static_cast<uint64_t>(static_cast<int64_t>(r_.rax) >> 63);
      else
        r_.rdx = static_cast<uint32_t>(static_cast<int32_t>(r_.rax) >> 31);
      return next();
    case 0xc3:
      if (!pop(value) || !is_place(value)) return false;
      r_.rip = value;
      return true;
    case 0xc9:
      r_.rsp = r_.rbp;
      if (!pop(value)) return false;
      r_.rbp = value;
      return next();
    case 0xe8: {
      int64_t distance = signed_word();
      return !short_ && push(r_.rip + at_) && jump(distance, true);
    }
    case 0x69: {
      Operand left = modrm(4);
      return multiply(left, signed_word());
    }
    case 0x6b: {
      Operand left = modrm(1);
      return multiply(left, signed_byte());
    }
    case 0xc1: {
      Operand left = modrm(1);
      return shift(reg_ & 7, left, byte());
    }
    case 0xd1:
    case 0xd3: {
      Operand left = modrm(0);
      return shift(reg_ & 7, left, operation == 0xd1 ? 1 : static_cast<uint8_t>(r_.rcx));
    }
    case 0x05:
    case 0x0d:
    case 0x25:
    case 0x2d:
    case 0x35:
    case 0x3d:
      return arithmetic(operation >> 3, {false, kRax, 0}, static_cast<uint64_t>(signed_word()));
    case 0xa9:
      return test({false, kRax, 0}, static_cast<uint64_t>(signed_word()));
    case 0xf7:
      return group_three();
    case 0xff:
      return group_five();
    case 0x80:
    case 0x84:
    case 0x88:
    case 0x8a:
    case 0xa8:
    case 0xc6:
      return run_bytes(operation);
    default:
      break;
  }
  // add, or, and, sub, xor, cmp of bytes
  bool of_bytes = operation < 0x40 && ((operation & 7) == 0 || (operation & 7) == 2 || (operation & 7) == 4);
  return of_bytes && run_bytes(operation);
}

}  // namespace pastcone::replay

// The machine that agent expressions run on: a stack of 64-bit words.
#include <cstring>

#include "pastcone/gdb/agent_code.h"

namespace pastcone::gdb {
namespace {

constexpr size_t kStack = 128;
constexpr int kMostSteps = 100'000;  // DWARF locations may loop; gdb's own code never does

int64_t sign_extended(uint64_t value, int64_t bits) {
  if (bits <= 0 || bits >= 64) return static_cast<int64_t>(value);
  int64_t unused = 64 - bits;
  return static_cast<int64_t>(value << unused) >> unused;
}

uint64_t zero_extended(uint64_t value, int64_t bits) {
  if (bits <= 0 || bits >= 64) return value;
  return value & ((uint64_t{1} << bits) - 1);
}

// As the processor does for a divisor of -1, but without its trap for the one quotient that does not fit.
int64_t divided(int64_t a, int64_t b) {
  return b == -1 ? static_cast<int64_t>(0 - static_cast<uint64_t>(a)) : a / b;
}
int64_t remainder(int64_t a, int64_t b) { return b == -1 ? 0 : a % b; }

uint64_t left(uint64_t a, uint64_t n) { return n < 64 ? a << n : 0; }
uint64_t right(uint64_t a, uint64_t n) { return n < 64 ? a >> n : 0; }
int64_t right_signed(int64_t a, uint64_t n) { return a >> (n < 64 ? n : 63); }

}  // namespace

Result<Evaluation> AgentExpression::evaluate(const ReadMemory& read, const ReadRegister& reg) const {
  Evaluation evaluation;
  TRY_STATUS(evaluate(read, reg, evaluation));
  return evaluation;
}

Status AgentExpression::evaluate(const ReadMemory& read, const ReadRegister& reg, Evaluation& into) const {
  into.memory.clear();
  into.used_registers = false;
  uint64_t stack[kStack];
  stack[0] = 0;
  size_t depth = 0;
  size_t at = 0;
  for (int steps = 0; steps < kMostSteps && at < code_.size(); ++steps) {
    const Instruction& now = code_[at++];
    const size_t least = needs(now);
    if (depth < least || depth + 1 >= kStack) return fail("the agent expression is malformed");
    uint64_t& top = stack[depth - (depth > 0)];
    uint64_t& below = stack[depth - (depth > 1 ? 2 : depth)];
    const auto a = static_cast<int64_t>(below);
    const auto b = static_cast<int64_t>(top);
    switch (now.code) {
      case Code::kAdd:
        below += top, --depth;
        break;
      case Code::kSub:
        below -= top, --depth;
        break;
      case Code::kMul:
        below *= top, --depth;
        break;
      case Code::kDivSigned:
      case Code::kDivUnsigned:
      case Code::kRemSigned:
      case Code::kRemUnsigned:
        if (b == 0) return fail("Division by zero");
        if (now.code == Code::kDivSigned)
          below = static_cast<uint64_t>(divided(a, b));
        else if (now.code == Code::kDivUnsigned)
          below /= top;
        else if (now.code == Code::kRemSigned)
          below = static_cast<uint64_t>(remainder(a, b));
        else
          below %= top;
        --depth;
        break;
      case Code::kLsh:
        below = left(below, top), --depth;
        break;
      case Code::kRshSigned:
        below = static_cast<uint64_t>(right_signed(a, top)), --depth;
        break;
      case Code::kRshUnsigned:
        below = right(below, top), --depth;
        break;
      case Code::kLogNot:
        top = !top;
        break;
      case Code::kBitAnd:
        below &= top, --depth;
        break;
      case Code::kBitOr:
        below |= top, --depth;
        break;
      case Code::kBitXor:
        below ^= top, --depth;
        break;
      case Code::kBitNot:
        top = ~top;
        break;
      case Code::kEqual:
        below = below == top, --depth;
        break;
      case Code::kLessSigned:
        below = a < b, --depth;
        break;
      case Code::kLessUnsigned:
        below = below < top, --depth;
        break;
      case Code::kExt:
        top = static_cast<uint64_t>(sign_extended(top, now.operand));
        break;
      case Code::kZeroExt:
        top = zero_extended(top, now.operand);
        break;
      case Code::kRef: {
        const uint64_t address = top;
        const auto size = static_cast<uint32_t>(now.operand);
        top = 0;
        into.memory.emplace_back(address, size);  // also if it is not there yet
        if (!read(address, &top, size)) return fail("Cannot access memory at address {:#x}", address);
        break;
      }
      case Code::kIfGoto:
        if (top) at = static_cast<size_t>(now.operand);
        --depth;
        break;
      case Code::kGoto:
        at = static_cast<size_t>(now.operand);
        break;
      case Code::kConst:
        stack[depth++] = static_cast<uint64_t>(now.operand);
        break;
      case Code::kReg:
        stack[depth++] = reg(static_cast<int>(now.operand));
        into.used_registers = true;
        break;
      case Code::kDup:
        stack[depth] = top, ++depth;
        break;
      case Code::kPop:
        --depth;
        break;
      case Code::kSwap:
        std::swap(top, below);
        break;
      case Code::kPick:
        stack[depth] = stack[depth - 1 - static_cast<size_t>(now.operand)], ++depth;
        break;
      case Code::kRot: {  // a b c becomes c a b
        uint64_t third = stack[depth - 3];
        stack[depth - 3] = top;
        top = below;
        below = third;
        break;
      }
      case Code::kEnd:
        into.value = b;
        return {};
    }
  }
  return fail("the agent expression does not end");
}

size_t AgentExpression::needs(const Instruction& instruction) {
  switch (instruction.code) {
    case Code::kConst:
    case Code::kReg:
    case Code::kGoto:
      return 0;
    case Code::kLogNot:
    case Code::kBitNot:
    case Code::kExt:
    case Code::kZeroExt:
    case Code::kRef:
    case Code::kIfGoto:
    case Code::kDup:
    case Code::kPop:
    case Code::kEnd:
      return 1;
    case Code::kPick:
      return static_cast<size_t>(instruction.operand) + 1;
    case Code::kRot:
      return 3;
    default:
      return 2;
  }
}

}  // namespace pastcone::gdb

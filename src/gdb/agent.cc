#include "pastcone/gdb/agent.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>

#include "pastcone/gdb/agent_code.h"

namespace pastcone::gdb {
namespace {

std::string_view take_word(std::string_view& line) {
  size_t start = std::min(line.find_first_not_of(" \t\r"), line.size());
  line.remove_prefix(start);
  std::string_view word = line.substr(0, line.find_first_of(" \t\r"));
  line.remove_prefix(word.size());
  return word;
}

std::string_view take_line(std::string_view& text) {
  size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

/// gdb prints constants as signed; the rest is never negative.
std::optional<int64_t> number(std::string_view word, int base = 10) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  if (error == std::errc{} && end == word.data() + word.size()) return value;
  uint64_t large = 0;
  auto [large_end, large_error] = std::from_chars(word.data(), word.data() + word.size(), large, base);
  if (large_error != std::errc{} || large_end != word.data() + word.size()) return std::nullopt;
  return static_cast<int64_t>(large);
}

constexpr std::string_view kScope = "Scope: 0x";
constexpr int64_t kLastGeneral = 17, kThreadPointer = 58, kOtherPointer = 59;  // eflags, fs_base, gs_base

}  // namespace

const AgentExpression::Code* AgentExpression::find_code(std::string_view name) {
  static const std::map<std::string_view, Code> kCodes = {
      {"add", Code::kAdd},
      {"sub", Code::kSub},
      {"mul", Code::kMul},
      {"div_signed", Code::kDivSigned},
      {"div_unsigned", Code::kDivUnsigned},
      {"rem_signed", Code::kRemSigned},
      {"rem_unsigned", Code::kRemUnsigned},
      {"lsh", Code::kLsh},
      {"rsh_signed", Code::kRshSigned},
      {"rsh_unsigned", Code::kRshUnsigned},
      {"log_not", Code::kLogNot},
      {"bit_and", Code::kBitAnd},
      {"bit_or", Code::kBitOr},
      {"bit_xor", Code::kBitXor},
      {"bit_not", Code::kBitNot},
      {"equal", Code::kEqual},
      {"less_signed", Code::kLessSigned},
      {"less_unsigned", Code::kLessUnsigned},
      {"ext", Code::kExt},
      {"zero_ext", Code::kZeroExt},
      {"ref8", Code::kRef},
      {"ref16", Code::kRef},
      {"ref32", Code::kRef},
      {"ref64", Code::kRef},
      {"if_goto", Code::kIfGoto},
      {"goto", Code::kGoto},
      {"const8", Code::kConst},
      {"const16", Code::kConst},
      {"const32", Code::kConst},
      {"const64", Code::kConst},
      {"reg", Code::kReg},
      {"end", Code::kEnd},
      {"dup", Code::kDup},
      {"pop", Code::kPop},
      {"swap", Code::kSwap},
      {"pick", Code::kPick},
      {"rot", Code::kRot},
  };
  auto found = kCodes.find(name);
  return found == kCodes.end() ? nullptr : &found->second;
}

// Lines of "  12  if_goto 15": offset, name, operand. Jumps name offsets.
Result<AgentExpression> AgentExpression::parse_one(std::string_view text) {
  AgentExpression expression;
  std::map<int64_t, int64_t> index_at;
  while (!text.empty()) {
    std::string_view line = take_line(text);
    if (line.starts_with(kScope)) {
      expression.scope_ = static_cast<uint64_t>(number(line.substr(kScope.size()), 16).value_or(0));
      continue;
    }
    auto offset = number(take_word(line));
    if (!offset) continue;  // "Reg mask: 40", an empty line
    std::string_view name = take_word(line);
    const Code* code = find_code(name);
    if (!code) return fail("gdb's agent expression has an instruction that cannot be evaluated: {}", name);
    auto operand = number(take_word(line));
    bool wants_operand = *code == Code::kExt || *code == Code::kZeroExt || *code == Code::kIfGoto ||
                         *code == Code::kGoto || *code == Code::kConst || *code == Code::kReg ||
                         *code == Code::kPick;
    if (wants_operand != operand.has_value())
      return fail("gdb's agent expression is not understood: {}", name);
    if (*code == Code::kPick && static_cast<uint64_t>(*operand) > 64)
      return fail("gdb's agent expression picks too deep");
    // A floating-point number in its register would be taken for an integer.
    if (*code == Code::kReg && *operand > kLastGeneral && *operand != kThreadPointer &&
        *operand != kOtherPointer)
      return fail("gdb's agent expression has a register that cannot be evaluated: {}", *operand);
    if (*code == Code::kRef) operand = *number(name.substr(3)) / 8;
    index_at[*offset] = static_cast<int64_t>(expression.code_.size());
    expression.code_.push_back({*code, operand.value_or(0)});
  }
  if (expression.code_.empty() || expression.code_.back().code != Code::kEnd)
    return fail("gdb printed no whole agent expression");
  for (Instruction& instruction : expression.code_) {
    if (instruction.code != Code::kGoto && instruction.code != Code::kIfGoto) continue;
    auto target = index_at.find(instruction.operand);
    if (target == index_at.end()) return fail("gdb's agent expression jumps nowhere");
    instruction.operand = target->second;
  }
  expression.fix_pointer_difference();
  expression.fix_frame_base();
  return expression;
}

// gdb divides the difference of two pointers by the size of what they point to as if it were unsigned, which
// is wrong if it is negative. Of integers the difference is cut to size before.
void AgentExpression::fix_pointer_difference() {
  for (size_t i = 2; i < code_.size(); ++i) {
    bool difference = code_[i - 2].code == Code::kSub && code_[i - 1].code == Code::kConst &&
                      code_[i].code == Code::kDivUnsigned;
    if (!difference) continue;
    code_[i].code = Code::kDivSigned;
  }
}

// Where variables lie at a distance from a register (clang), gdb cuts what is in it to the variable's size. A
// number that is in the register itself is cut once more when something is added to it.
void AgentExpression::fix_frame_base() {
  constexpr int64_t kFramePointer = 6, kStackPointer = 7, kWhole = 64;
  auto has = [&](size_t at, Code code) { return at < code_.size() && code_[at].code == code; };
  auto cuts = [&](size_t at) { return has(at, Code::kExt) || has(at, Code::kZeroExt); };
  for (size_t i = 0; i < code_.size(); ++i) {
    if (!has(i, Code::kReg) || !cuts(i + 1)) continue;
    size_t added = cuts(i + 3) ? i + 4 : i + 3;
    bool distance = has(i + 2, Code::kConst) && has(added, Code::kAdd) && !cuts(added + 1);
    bool based = code_[i].operand == kStackPointer || (code_[i].operand == kFramePointer && distance);
    if (based) code_[i + 1].operand = kWhole;
  }
}

bool AgentExpression::leaves_one() const {
  std::vector<int64_t> depths(code_.size(), -1);
  int64_t depth = 0;
  for (size_t i = 0; i < code_.size(); ++i) {  // gdb jumps forward only
    const Instruction& instruction = code_[i];
    if (depths[i] >= 0) depth = depths[i];
    switch (instruction.code) {
      case Code::kConst:
      case Code::kReg:
      case Code::kDup:
      case Code::kPick:
        ++depth;
        break;
      case Code::kLogNot:
      case Code::kBitNot:
      case Code::kExt:
      case Code::kZeroExt:
      case Code::kRef:
      case Code::kSwap:
      case Code::kRot:
      case Code::kGoto:
        break;
      case Code::kEnd:
        return depth == 1;
      default:
        --depth;
    }
    if (instruction.code != Code::kIfGoto && instruction.code != Code::kGoto) continue;
    int64_t& there = depths[static_cast<size_t>(instruction.operand)];
    if (there >= 0 && there != depth) return false;
    there = depth;
  }
  return false;
}

Result<std::vector<AgentExpression>> AgentExpression::parse_all(std::string_view maint_output) {
  std::vector<AgentExpression> all;
  size_t at = maint_output.find(kScope);
  if (at == std::string_view::npos) return fail("gdb printed no agent expression");
  while (at != std::string_view::npos) {
    size_t next = maint_output.find(kScope, at + 1);
    all.push_back(TRY(parse_one(maint_output.substr(at, next - at))));
    at = next;
  }
  return all;
}

Result<AgentExpression> AgentExpression::parse(std::string_view maint_output) {
  return std::move(TRY(parse_all(maint_output)).front());
}

bool AgentExpression::uses_registers(int but) const {
  return std::any_of(code_.begin(), code_.end(),
                     [&](const Instruction& i) { return i.code == Code::kReg && i.operand != but; });
}

bool AgentExpression::reads_nothing() const {
  return std::none_of(code_.begin(), code_.end(),
                      [](const Instruction& i) { return i.code == Code::kReg || i.code == Code::kRef; });
}

std::optional<bool> AgentExpression::compares_unsigned() const {
  auto is = [](const Instruction& i) { return i.code == Code::kLessSigned || i.code == Code::kLessUnsigned; };
  auto last = std::find_if(code_.rbegin(), code_.rend(), is);
  return last == code_.rend() ? std::nullopt : std::optional(last->code == Code::kLessUnsigned);
}

}  // namespace pastcone::gdb

// Agent expressions: gdb compiles an expression of the program's language to bytecode ("maint agent-eval"),
// and we evaluate that many times, without gdb.
//
// Registers have the numbers of the target description that gdb holds; with its usual one for amd64: rax 0,
// rbx 1, rcx 2, rdx 3, rsi 4, rdi 5, rbp 6, rsp 7, r8 to r15 8 to 15, rip 16, eflags 17, … fs_base 58 (not
// DWARF's, which swap rbx and rdx). A value in registers or on the stack is right only where the code of
// scope() is about to run.
// && || ?: skip what C skips: a pointer that is tested first is not followed when it is null.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "pastcone/base/result.h"

namespace pastcone::gdb {

struct Evaluation {
  int64_t value = 0;
  std::vector<std::pair<uint64_t, uint32_t>> memory;  ///< what was read: address, size, in that order
  bool used_registers = false;
};

using ReadMemory = std::function<bool(uint64_t address, void* to, size_t size)>;
using ReadRegister = std::function<uint64_t(int number)>;

class AgentExpression {
 public:
  /// What gdb prints for one place, or for the first of several.
  static Result<AgentExpression> parse(std::string_view maint_output);
  /// For all of them: one per "Scope:".
  static Result<std::vector<AgentExpression>> parse_all(std::string_view maint_output);
  /// Of a static member gdb leaves the object below its value, where the next operator takes it. Then it is
  /// right only by itself.
  bool leaves_one() const;

  /// Error: memory that is not there, division by zero, a runaway.
  Result<Evaluation> evaluate(const ReadMemory& read, const ReadRegister& reg) const;
  /// The same without allocation, once `into` has held as many reads.
  Status evaluate(const ReadMemory& read, const ReadRegister& reg, Evaluation& into) const;

  /// The address that it was compiled for.
  uint64_t scope() const { return scope_; }
  /// Whether any path through it reads a register, other than this one.
  bool uses_registers(int but = -1) const;
  /// A constant.
  bool reads_nothing() const;
  /// Of `a < b`: whether as unsigned numbers; none if it is no comparison.
  std::optional<bool> compares_unsigned() const;

 private:
  enum class Code : uint8_t;
  struct Instruction {
    Code code;
    int64_t operand;  ///< of a goto: an index into code_
  };
  static Result<AgentExpression> parse_one(std::string_view text);
  static const Code* find_code(std::string_view name);
  void fix_pointer_difference();
  void fix_frame_base();
  /// How many words it takes from the stack.
  static size_t needs(const Instruction& instruction);

  std::vector<Instruction> code_;
  uint64_t scope_ = 0;
};

}  // namespace pastcone::gdb

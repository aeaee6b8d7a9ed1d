// An expression of the program's language that can be evaluated many times without gdb: what gdb compiles as
// a whole (agent.h); and what it does not, floating point, comparisons of strings and calls of functions, put
// together by us from pieces that it does.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "pastcone/gdb/agent.h"
#include "pastcone/gdb/gdb.h"
#include "pastcone/gdb/number.h"

namespace pastcone::gdb {

/// A call of a function of the program, which somebody else has to make.
struct FunctionCall {
  struct Argument {
    Number number;
    const std::string* text = nullptr;  ///< instead: a literal, whose address is wanted
  };
  uint64_t function = 0;
  std::vector<Argument>
      arguments;      ///< of the parameters' types: at most six integers and pointers, eight others
  NumberType result;  ///< no long double
};
/// The memory that the result depends on is added to the evaluation.
using CallFunction = std::function<Result<Number>(const FunctionCall& call, Evaluation& into)>;

class Formula {
 public:
  struct Node;

  Formula(AgentExpression code);
  Formula(std::shared_ptr<const Node> root, size_t place, uint64_t scope);

  /// The value is one for a condition: of a floating-point number, whether it is true.
  Status evaluate(const ReadMemory& read, const ReadRegister& reg, Evaluation& into,
                  const CallFunction& call = {}) const;
  Result<Evaluation> evaluate(const ReadMemory& read, const ReadRegister& reg) const;
  /// As gdb would print it.
  Result<Number> number(const ReadMemory& read, const ReadRegister& reg, const CallFunction& call = {}) const;

  uint64_t scope() const { return scope_; }
  bool uses_registers(int but = -1) const;
  bool reads_nothing() const;
  /// Functions of the program.
  bool calls() const;

 private:
  std::shared_ptr<const Node> root_;
  size_t place_ = 0;  ///< of those that a location means
  uint64_t scope_ = 0;
};

/// As gdb::compile and compile_all, whose errors these are, of whatever can be evaluated here.
Result<Formula> compile_formula(Gdb& gdb, const std::string& expression, const std::string& location = {});
Result<std::vector<Formula>> compile_formulas(Gdb& gdb, const std::string& expression,
                                              const std::string& location = {});

}  // namespace pastcone::gdb

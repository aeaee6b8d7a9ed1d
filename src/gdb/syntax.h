// How an expression of C is made up of operators and operands, for those that gdb does not compile as a
// whole.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "pastcone/base/result.h"

namespace pastcone::gdb {

struct Syntax {
  enum class Kind {
    kOperand,   ///< what gdb shall understand: a variable, p->x, *p, &x, sizeof x, a constant
    kFloating,  ///< a floating-point constant
    kString,
    kUnary,   ///< - + ! ~
    kBinary,  ///< arithmetic, comparisons, && ||
    kChoice,  ///< a ? b : c
    kCast,    ///< to an arithmetic type
    kCall,    ///< of a function by its name
  };
  Kind kind = Kind::kOperand;
  std::string text;  ///< all of it, as written
  std::string sign;  ///< the operator; of a cast the type; of a call the name
  std::vector<Syntax> parts;
};

/// Whether a name is one of a type: gdb knows.
using IsType = std::function<Result<bool>(const std::string& name)>;

/// Error: not understood, or gdb is gone.
Result<Syntax> parse_syntax(const std::string& expression, const IsType& is_type);

}  // namespace pastcone::gdb

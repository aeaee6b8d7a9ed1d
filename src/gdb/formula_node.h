// What a Formula is made of. Private to it.
#pragma once

#include <string>
#include <vector>

#include "pastcone/gdb/formula.h"
#include "pastcone/gdb/text_functions.h"

namespace pastcone::gdb {

struct Formula::Node {
  enum class Kind : uint8_t {
    kConstant,
    kValue,   ///< the code's
    kMemory,  ///< a floating-point number where the code says
    kText,    ///< a literal
    kNegate,
    kKeep,  ///< +x
    kComplement,
    kNot,
    kCast,
    kArithmetic,
    kAnd,
    kOr,
    kChoice,
    kTextFunction,
    kCall,  ///< of the code's function
  };
  Kind kind = Kind::kConstant;
  NumberType type = {};
  Number constant = {};
  std::vector<AgentExpression> codes = {};  ///< one for each place
  std::string text = {};
  Arithmetic operation = {};
  TextFunction function = {};
  std::vector<Node> parts = {};
  // What it may be used for, when it is put together.
  bool pointer = false;    ///< is true or not, no more
  bool sign_only = false;  ///< may be compared with 0
};

}  // namespace pastcone::gdb

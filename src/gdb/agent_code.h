// The instructions of agent expressions that a value can be computed with, by gdb's names. Private to
// AgentExpression.
#pragma once

#include "pastcone/gdb/agent.h"

namespace pastcone::gdb {

enum class AgentExpression::Code : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDivSigned,
  kDivUnsigned,
  kRemSigned,
  kRemUnsigned,
  kLsh,
  kRshSigned,
  kRshUnsigned,
  kLogNot,
  kBitAnd,
  kBitOr,
  kBitXor,
  kBitNot,
  kEqual,
  kLessSigned,
  kLessUnsigned,
  kExt,
  kZeroExt,
  kRef,  ///< the operand is the size in bytes
  kIfGoto,
  kGoto,
  kConst,
  kReg,
  kEnd,
  kDup,
  kPop,
  kSwap,
  kPick,
  kRot,
};

}  // namespace pastcone::gdb

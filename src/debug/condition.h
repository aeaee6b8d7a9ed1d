// A condition that a process is looked at for, again and again.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "pastcone/gdb/formula.h"

namespace pastcone::debug {

/// One that we cannot evaluate (no code) is asked of gdb each time.
struct Condition {
  std::string text;
  std::optional<gdb::Formula> code;

  /// The process has to stand for it: functions are called, or gdb is asked.
  bool asks() const { return !code || code->calls(); }
};
/// All of them have to hold, in the order in which they may be looked at.
using Conditions = std::vector<Condition>;

/// A variable that a function or a block of it begins with. What is there before it is first written is no
/// value.
struct OwnVariable {
  gdb::Formula address;
  uint32_t size = 0;  ///< that of a number or a pointer
};

}  // namespace pastcone::debug

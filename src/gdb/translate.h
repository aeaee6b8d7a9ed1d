// Rewrites an expression so that gdb's compiler of agent expressions takes it, and gets it right.
//
//   c == 'a'                 c == (char)97            gdb knows no character constants there
//   state == BUSY, !flag     (unsigned)(state) == …   nor enumerations and booleans as numbers
//   ref == 3                 (*ref) == 3              and takes a reference for the pointer that it is
//   f == &handler            f == &*handler           and a function's address for 0
//   *(int*)&there            *(int*)((char*)0x4010)   and no symbols without debug information
//   minus >> length          minus >> (unsigned char)(length)    gdb would shift in the type of both,
//   c ? 0 : wide             c ? (long)(0) : (long)(wide)        give a choice the type of the first,
//   (bool)n == true          (!!(n)) == true                     and let a boolean be 5
//   (enum color)wide         (unsigned)wide                      or what does not fit into it,
//   s.inside                 (*(int *)((char*)&(s) + 4))         it does not look into anonymous unions
//
// Types are found by asking gdb to compile pieces, so that scope and language are its own.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "pastcone/base/result.h"

namespace pastcone::gdb {

/// What a piece compiles to, as a piece of text (gdb's instructions); an empty text if it does not compile.
/// Error: gdb is gone.
using TryCompile = std::function<Result<std::string>(const std::string& expression)>;
/// What else gdb is asked.
struct Ask {
  /// The address of something by its name; none if it has none, or gdb knows what it is.
  std::function<Result<std::optional<uint64_t>>(const std::string& name)> untyped;
  /// Whether a type is a boolean one by another name.
  std::function<Result<bool>(const std::string& type)> is_boolean;
  /// What an enumeration is stored as ("unsigned long"), by its type or by a value of it; empty: it is none.
  std::function<Result<std::string>(const std::string& type)> enumeration, enumeration_of;
  /// Whether a cast of a pointer to an object, or of a reference, leads to another part of it.
  std::function<Result<bool>(const std::string& type, const std::string& operand)> moves;
  /// A member that an object, or what `arrow` leads to, has by way of one without a name; none: it is no such
  /// member.
  std::function<Result<std::optional<std::string>>(const std::string& object, bool arrow, const std::string& name)>
      member;
};

struct Token {
  enum class Kind { kName, kNumber, kCharacter, kString, kOperator, kEnd };
  Kind kind = Kind::kEnd;
  std::string space;  ///< before it
  std::string text;
};

/// Never fails: what is not understood is an operator of one character.
std::vector<Token> tokens_of(const std::string& expression);

/// The bytes that the literal of a string stands for; none: it has escapes that are not known here.
std::optional<std::string> string_value(const std::string& literal);

/// Error: a floating-point constant, which gdb would cut to an integer in silence; an end that gdb would not
/// see; or gdb is gone. What is no expression is returned as it is, for gdb to complain of.
Result<std::string> translate(const std::string& expression, const TryCompile& compiles, const Ask& ask = {});

}  // namespace pastcone::gdb

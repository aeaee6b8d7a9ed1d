// Numbers of C's arithmetic types, and what gdb's `print` makes of them: as C does, except that gdb cuts what
// is too large for an integer to the largest 64-bit one before it is cast, and negates by subtracting from 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "pastcone/base/result.h"

namespace pastcone::gdb {

struct NumberType {
  enum class Format : uint8_t { kInteger, kFloat, kDouble, kLongDouble };
  Format format = Format::kInteger;
  uint8_t size = 4;  ///< bytes that have a meaning: 10 of a long double's 16
  bool is_unsigned = false;

  bool is_floating() const { return format != Format::kInteger; }
  bool operator==(const NumberType&) const = default;
};

constexpr NumberType kInt{}, kUnsignedLong{NumberType::Format::kInteger, 8, true};

/// "const unsigned long", "long int", "double"; none: no arithmetic type, or one that is not known here (an
/// enumeration, a boolean, __float128).
std::optional<NumberType> number_type(std::string_view name);

struct Number {
  NumberType type;
  int64_t integer = 0;   ///< cut to the type, and extended
  long double real = 0;  ///< if it is floating; has a value of the type

  bool is_true() const { return type.is_floating() ? real != 0 : integer != 0; }
};

Number integer_number(int64_t value, NumberType type = kInt);
/// Of the bytes that a program has for it.
Number floating_number(const uint8_t* bytes, NumberType type);
/// A floating-point constant as C writes it, with f or l behind it or nothing; none: it is none.
std::optional<Number> floating_constant(std::string_view text);

Number converted(const Number& number, NumberType to);
/// The sizes below int are int.
Number promoted(const Number& number);
Number negated(const Number& number);

enum class Arithmetic : uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kRemainder,
  kAnd,
  kOr,
  kXor,
  kEqual,
  kUnequal,
  kLess,
  kGreater,
  kLessOrEqual,
  kGreaterOrEqual,
};
std::optional<Arithmetic> arithmetic_of(std::string_view sign);

/// Error: division of integers by zero, or an operation that floating-point numbers do not have.
Result<Number> computed(Arithmetic operation, const Number& left, const Number& right);

}  // namespace pastcone::gdb

#include "pastcone/gdb/number.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <string>

namespace pastcone::gdb {
namespace {

using Format = NumberType::Format;

constexpr NumberType kFloat{Format::kFloat, 4, false}, kDouble{Format::kDouble, 8, false},
    kLongDouble{Format::kLongDouble, 10, false};

int64_t cut(int64_t value, NumberType type) {
  int unused = 64 - 8 * type.size;
  auto bits = static_cast<uint64_t>(value) << unused;
  return type.is_unsigned ? static_cast<int64_t>(bits >> unused) : static_cast<int64_t>(bits) >> unused;
}

Number floating(long double value, NumberType type) { return {type, 0, value}; }

/// What both become before they are computed with.
NumberType common(NumberType a, NumberType b) {
  if (a.is_floating() || b.is_floating()) return a.format > b.format ? a : b;
  if (a.size != b.size) return a.size > b.size ? a : b;
  return a.is_unsigned ? a : b;
}

template <class T>
T rounded_integer(const Number& number) {
  return number.type.is_unsigned ? static_cast<T>(static_cast<uint64_t>(number.integer))
                                 : static_cast<T>(number.integer);
}

int64_t to_integer(long double value) {
  constexpr long double kEnd = 9223372036854775808.0L;
  if (value < kEnd && value >= -kEnd) return static_cast<int64_t>(value);
  return value < 0 ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
}

/// In the type that both have.
template <class T>
Result<Number> computed_in(Arithmetic operation, const Number& left, const Number& right) {
  T a = static_cast<T>(left.real), b = static_cast<T>(right.real);
  auto real = [&](T value) { return floating(static_cast<long double>(value), left.type); };
  auto truth = [](bool value) { return integer_number(value ? 1 : 0); };
  switch (operation) {
    case Arithmetic::kAdd:
      return real(a + b);
    case Arithmetic::kSubtract:
      return real(a - b);
    case Arithmetic::kMultiply:
      return real(a * b);
    case Arithmetic::kDivide:
      return real(a / b);
    case Arithmetic::kEqual:
      return truth(a == b);
    case Arithmetic::kUnequal:
      return truth(a != b);
    case Arithmetic::kLess:
      return truth(a < b);
    case Arithmetic::kGreater:
      return truth(a > b);
    case Arithmetic::kLessOrEqual:
      return truth(a <= b);
    case Arithmetic::kGreaterOrEqual:
      return truth(a >= b);
    default:
      return fail("Integer-only operation on floating point number.");
  }
}

Result<int64_t> quotient(Arithmetic operation, const Number& left, const Number& right) {
  bool divides = operation == Arithmetic::kDivide;
  if (right.integer == 0) return fail("Division by zero");
  auto a = static_cast<uint64_t>(left.integer), b = static_cast<uint64_t>(right.integer);
  if (left.type.is_unsigned) return static_cast<int64_t>(divides ? a / b : a % b);
  if (right.integer == -1) return divides ? static_cast<int64_t>(0 - a) : 0;
  return divides ? left.integer / right.integer : left.integer % right.integer;
}

Result<Number> computed_integers(Arithmetic operation, const Number& left, const Number& right) {
  auto a = static_cast<uint64_t>(left.integer), b = static_cast<uint64_t>(right.integer);
  bool less = left.type.is_unsigned ? a < b : left.integer < right.integer;
  auto value = [&](uint64_t bits) { return integer_number(static_cast<int64_t>(bits), left.type); };
  auto truth = [](bool is) { return integer_number(is ? 1 : 0); };
  switch (operation) {
    case Arithmetic::kAdd:
      return value(a + b);
    case Arithmetic::kSubtract:
      return value(a - b);
    case Arithmetic::kMultiply:
      return value(a * b);
    case Arithmetic::kDivide:
    case Arithmetic::kRemainder:
      return integer_number(TRY(quotient(operation, left, right)), left.type);
    case Arithmetic::kAnd:
      return value(a & b);
    case Arithmetic::kOr:
      return value(a | b);
    case Arithmetic::kXor:
      return value(a ^ b);
    case Arithmetic::kEqual:
      return truth(a == b);
    case Arithmetic::kUnequal:
      return truth(a != b);
    case Arithmetic::kLess:
      return truth(less);
    case Arithmetic::kGreater:
      return truth(!less && a != b);
    case Arithmetic::kLessOrEqual:
      return truth(less || a == b);
    case Arithmetic::kGreaterOrEqual:
      return truth(!less);
  }
  return fail("no operation");
}

}  // namespace

std::optional<NumberType> number_type(std::string_view name) {
  std::map<std::string, int> words;
  while (!name.empty()) {
    size_t end = std::min(name.find(' '), name.size());
    if (end > 0) ++words[std::string(name.substr(0, end))];
    name.remove_prefix(std::min(end + 1, name.size()));
  }
  words.erase("const");
  words.erase("volatile");
  auto take = [&](const char* word) {
    auto found = words.find(word);
    int count = found == words.end() ? 0 : found->second;
    if (found != words.end()) words.erase(found);
    return count;
  };
  int is_unsigned = take("unsigned"), is_signed = take("signed"), chars = take("char"),
      shorts = take("short"), longs = take("long"), ints = take("int"), floats = take("float"),
      doubles = take("double");
  if (!words.empty() || is_unsigned + is_signed > 1 || ints > 1) return {};
  bool plain = is_unsigned + is_signed + chars + shorts + ints == 0;
  if (floats + doubles > 0) {
    if (!plain || floats + doubles > 1 || longs > doubles) return {};
    return floats > 0 ? kFloat : longs > 0 ? kLongDouble : kDouble;
  }
  if (chars + shorts + longs + ints + is_unsigned + is_signed == 0) return {};
  if (chars + shorts > 1 || (chars + shorts > 0 && longs > 0) || longs > 2 || (chars > 0 && ints > 0))
    return {};
  auto size = static_cast<uint8_t>(chars > 0 ? 1 : shorts > 0 ? 2 : longs > 0 ? 8 : 4);
  return NumberType{Format::kInteger, size, is_unsigned > 0};
}

Number integer_number(int64_t value, NumberType type) { return {type, cut(value, type), 0}; }

Number floating_number(const uint8_t* bytes, NumberType type) {
  float single = 0;
  double twice = 0;
  long double extended = 0;
  switch (type.format) {
    case Format::kFloat:
      std::memcpy(&single, bytes, sizeof single);
      return floating(static_cast<long double>(single), type);
    case Format::kDouble:
      std::memcpy(&twice, bytes, sizeof twice);
      return floating(static_cast<long double>(twice), type);
    default:
      std::memcpy(&extended, bytes, type.size);
      return floating(extended, type);
  }
}

std::optional<Number> floating_constant(std::string_view text) {
  std::string digits(text);
  NumberType type = kDouble;
  if (!digits.empty() && std::string_view("fFlL").find(digits.back()) != std::string_view::npos) {
    type = digits.back() == 'f' || digits.back() == 'F' ? kFloat : kLongDouble;
    digits.pop_back();
  }
  bool plain = digits.find_first_not_of("0123456789.eE+-") == std::string::npos;
  if (!plain || digits.find_first_of(".eE") == std::string::npos) return {};
  char* end = nullptr;
  long double value = type == kFloat    ? static_cast<long double>(std::strtof(digits.c_str(), &end))
                      : type == kDouble ? static_cast<long double>(std::strtod(digits.c_str(), &end))
                                        : std::strtold(digits.c_str(), &end);
  if (digits.empty() || *end != '\0') return {};
  return floating(value, type);
}

Number converted(const Number& number, NumberType to) {
  if (number.type == to) return number;
  bool from_integer = !number.type.is_floating();
  switch (to.format) {
    case Format::kInteger:
      return integer_number(from_integer ? number.integer : to_integer(number.real), to);
    case Format::kFloat:
      return floating(static_cast<long double>(from_integer ? rounded_integer<float>(number)
                                                            : static_cast<float>(number.real)),
                      to);
    case Format::kDouble:
      return floating(static_cast<long double>(from_integer ? rounded_integer<double>(number)
                                                            : static_cast<double>(number.real)),
                      to);
    case Format::kLongDouble:
      return floating(from_integer ? rounded_integer<long double>(number) : number.real, to);
  }
  return number;
}

Number promoted(const Number& number) {
  bool small = !number.type.is_floating() && number.type.size < kInt.size;
  return small ? integer_number(number.integer) : number;
}

Number negated(const Number& number) {
  Number value = promoted(number);
  auto result = computed(Arithmetic::kSubtract, converted(integer_number(0), value.type), value);
  return result ? *result : value;
}

std::optional<Arithmetic> arithmetic_of(std::string_view sign) {
  static const std::map<std::string_view, Arithmetic> kSigns = {
      {"+", Arithmetic::kAdd},          {"-", Arithmetic::kSubtract},
      {"*", Arithmetic::kMultiply},     {"/", Arithmetic::kDivide},
      {"%", Arithmetic::kRemainder},    {"&", Arithmetic::kAnd},
      {"|", Arithmetic::kOr},           {"^", Arithmetic::kXor},
      {"==", Arithmetic::kEqual},       {"!=", Arithmetic::kUnequal},
      {"<", Arithmetic::kLess},         {">", Arithmetic::kGreater},
      {"<=", Arithmetic::kLessOrEqual}, {">=", Arithmetic::kGreaterOrEqual}};
  auto found = kSigns.find(sign);
  return found == kSigns.end() ? std::nullopt : std::optional(found->second);
}

Result<Number> computed(Arithmetic operation, const Number& left, const Number& right) {
  Number a = promoted(left), b = promoted(right);
  NumberType type = common(a.type, b.type);
  a = converted(a, type);
  b = converted(b, type);
  switch (type.format) {
    case Format::kInteger:
      return computed_integers(operation, a, b);
    case Format::kFloat:
      return computed_in<float>(operation, a, b);
    case Format::kDouble:
      return computed_in<double>(operation, a, b);
    case Format::kLongDouble:
      break;
  }
  return computed_in<long double>(operation, a, b);
}

}  // namespace pastcone::gdb

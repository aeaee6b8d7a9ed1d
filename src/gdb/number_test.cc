#include "pastcone/gdb/number.h"

#include <gtest/gtest.h>

#include <cmath>

namespace pastcone::gdb {
namespace {

using Format = NumberType::Format;

TEST(NumberType, ByTheNamesThatGdbHas) {
  auto is = [](const char* name, NumberType type) { EXPECT_EQ(number_type(name), type) << name; };
  is("int", kInt);
  is("unsigned int", {Format::kInteger, 4, true});
  is("unsigned", {Format::kInteger, 4, true});
  is("const volatile unsigned char", {Format::kInteger, 1, true});
  is("char", {Format::kInteger, 1, false});
  is("short int", {Format::kInteger, 2, false});
  is("long long unsigned int", kUnsignedLong);
  is("long", {Format::kInteger, 8, false});
  is("float", {Format::kFloat, 4, false});
  is("const double", {Format::kDouble, 8, false});
  is("long double", {Format::kLongDouble, 10, false});
  for (const char* none : {"", "const", "double *", "struct thing", "__float128", "complex double", "_Bool",
                           "long float", "unsigned double", "long char", "signed unsigned", "short long"})
    EXPECT_FALSE(number_type(none)) << none;
}

TEST(FloatingConstant, OfThreeTypes) {
  EXPECT_EQ(floating_constant("0.1")->real, static_cast<long double>(0.1));
  EXPECT_EQ(floating_constant("0.1f")->real, static_cast<long double>(0.1f));
  EXPECT_EQ(floating_constant("0.1L")->real, 0.1L);
  EXPECT_EQ(floating_constant("1e3")->type.format, Format::kDouble);
  EXPECT_EQ(floating_constant("2.5e-3F")->type.format, Format::kFloat);
  EXPECT_EQ(floating_constant(".5")->real, 0.5L);
  EXPECT_TRUE(std::isinf(floating_constant("1e400")->real));
  for (const char* none : {"", "1", "f", "1.5i", "1.5df", "0x1p3", "1.2.3", "e", "1e", "1e+", "1f", "nan"})
    EXPECT_FALSE(floating_constant(none)) << none;
}

TEST(Number, IntegersHaveTheirSize) {
  NumberType unsigned_int{Format::kInteger, 4, true};
  Number minus = integer_number(-1, unsigned_int);
  EXPECT_EQ(minus.integer, 0xffffffff);
  EXPECT_EQ(computed(Arithmetic::kAdd, minus, integer_number(1))->integer, 0);
  EXPECT_EQ(computed(Arithmetic::kLess, integer_number(-1), integer_number(0, unsigned_int))->integer, 0);
  EXPECT_EQ(computed(Arithmetic::kMultiply, integer_number(1 << 30), integer_number(2))->integer, INT32_MIN);
  NumberType wide{Format::kInteger, 8, false};
  Number least = integer_number(INT64_MIN, wide);
  EXPECT_EQ(computed(Arithmetic::kDivide, least, integer_number(-1))->integer, INT64_MIN);
  EXPECT_EQ(computed(Arithmetic::kRemainder, least, integer_number(-1))->integer, 0);
  EXPECT_EQ(computed(Arithmetic::kDivide, least, integer_number(0)).error().message, "Division by zero");
}

TEST(Number, IsWhatGdbMakesOfWhatDoesNotFit) {
  NumberType wide{Format::kInteger, 8, false};
  auto cast = [](const char* text, NumberType type) {
    return converted(*floating_constant(text), type).integer;
  };
  EXPECT_EQ(cast("1e19", kUnsignedLong), INT64_MAX);
  EXPECT_EQ(cast("3e9", kInt), -1294967296);
  EXPECT_EQ(cast("300.5", {Format::kInteger, 1, false}), 44);
  Number nan = *computed(Arithmetic::kDivide, *floating_constant("0.0"), *floating_constant("0.0"));
  EXPECT_TRUE(std::isnan(nan.real));
  EXPECT_TRUE(nan.is_true());
  EXPECT_EQ(converted(nan, wide).integer, INT64_MAX);
  EXPECT_FALSE(std::signbit(negated(*floating_constant("0.0")).real));
}

}  // namespace
}  // namespace pastcone::gdb

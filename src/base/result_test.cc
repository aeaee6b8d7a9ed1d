#include "pastcone/base/result.h"

#include <gtest/gtest.h>

#include <memory>

namespace pastcone {
namespace {

Result<std::unique_ptr<int>> half(int number) {
  if (number % 2 != 0) return fail("{} is odd", number);
  return std::make_unique<int>(number / 2);
}

Result<int> quarter(int number) {
  std::unique_ptr<int> first = TRY(half(number));
  return *TRY(half(*first));
}

Status divisible(int number) {
  TRY_STATUS(quarter(number));
  return {};
}

TEST(Result, TryGivesTheValueOrPassesTheErrorOn) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(3).error().message, "3 is odd");
  EXPECT_EQ(quarter(6).error().message, "3 is odd");
  EXPECT_TRUE(divisible(4));
  EXPECT_EQ(divisible(2).error().message, "1 is odd");
}

}  // namespace
}  // namespace pastcone

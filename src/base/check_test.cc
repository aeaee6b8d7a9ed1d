#include "pastcone/base/check.h"

#include <gtest/gtest.h>

namespace pastcone {
namespace {

TEST(Check, TrueDoesNothingAndEvaluatesNoMessage) {
  int evaluated = 0;
  CHECK(1 + 1 == 2);
  CHECK(1 + 1 == 2, "{}", ++evaluated);
  EXPECT_EQ(evaluated, 0);
}

TEST(CheckDeathTest, FalseAbortsWithPlaceAndMessage) {
  EXPECT_DEATH(CHECK(1 + 1 == 3), "check_test.cc:[0-9]+: CHECK\\(1 \\+ 1 == 3\\) failed\n");
  EXPECT_DEATH(CHECK(false, "event {}", "p3:7"), "CHECK\\(false\\) failed: event p3:7\n");
}

}  // namespace
}  // namespace pastcone

#include "pastcone/trace/call_names.h"

#include <gtest/gtest.h>

namespace pastcone {
namespace {

TEST(CallNames, BothWays) {
  EXPECT_EQ(call_name(0), "read");
  EXPECT_EQ(call_name(435), "clone3");
  EXPECT_EQ(call_number("read"), 0u);
  EXPECT_EQ(call_number("clone3"), 435u);
  for (uint32_t number = 0; number < 500; ++number) {
    if (call_name(number).empty()) continue;
    EXPECT_EQ(call_number(call_name(number)), number);
  }
}

TEST(CallNames, Unknown) {
  EXPECT_EQ(call_name(400), "");
  EXPECT_EQ(call_name(UINT32_MAX), "");
  EXPECT_EQ(call_number("reed"), std::nullopt);
  EXPECT_EQ(call_number(""), std::nullopt);
}

}  // namespace
}  // namespace pastcone

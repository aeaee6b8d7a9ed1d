#include "pastcone/cli/debug_arguments.h"

#include <gtest/gtest.h>

namespace pastcone::cli {
namespace {

std::string shown(std::string_view text) {
  PointPlace place = split_place(text);
  return place.location + "|" + place.thread + "|" + place.condition;
}

TEST(Place, IsSplitAsInGdb) {
  EXPECT_EQ(shown("work"), "work||");
  EXPECT_EQ(shown("work if n == 2"), "work||n == 2");
  EXPECT_EQ(shown("work if(n == 2)"), "work||(n == 2)");
  EXPECT_EQ(shown("if x"), "||x");
  EXPECT_EQ(shown("x.c:3 thread 2"), "x.c:3|2|");
  EXPECT_EQ(shown("x.c:3 thread 2 if n"), "x.c:3|2|n");
  EXPECT_EQ(shown("thread 2"), "|2|");
  EXPECT_EQ(shown("notify"), "notify||");
  EXPECT_EQ(shown("if_any if ifs"), "if_any||ifs");
  EXPECT_EQ(shown("my_thread"), "my_thread||");
}

TEST(Word, IsTakenOffTheFront) {
  std::string_view text = "disp 2 3";
  EXPECT_FALSE(take_word(text, "breakpoints"));
  EXPECT_TRUE(take_word(text, "display"));
  EXPECT_EQ(text, "2 3");
  EXPECT_FALSE(take_word(text, "once"));
  text = "";
  EXPECT_FALSE(take_word(text, "display"));
}

Result<std::vector<int>> numbers(std::string_view text) {
  return parse_numbers(text, [](std::string_view variable) -> Result<int> {
    if (variable == "$bpnum") return 7;
    return fail("Convenience variable must have integer value.");
  });
}

TEST(Numbers, AreListsRangesAndVariables) {
  EXPECT_EQ(*numbers("1 3-5 $bpnum"), (std::vector<int>{1, 3, 4, 5, 7}));
  EXPECT_EQ(*numbers("5-$bpnum"), (std::vector<int>{5, 6, 7}));
  EXPECT_TRUE(numbers("")->empty());
  for (const char* wrong : {"x", "1x", "-3", "5-3", "1-", "4.1", "$other", "1-2000000000", "99999999999"})
    EXPECT_FALSE(numbers(wrong)) << wrong;
}

}  // namespace
}  // namespace pastcone::cli

#include "pastcone/cli/narrator.h"

#include <gtest/gtest.h>

namespace pastcone::cli {
namespace {

TEST(Filled, TakesWholeWords) {
  EXPECT_EQ(filled("one two three\nfour five", 12), "one two\nthree four\nfive");
  EXPECT_EQ(filled("one\ntwo", 80), "one two");
  EXPECT_EQ(filled("one two", 0), "one two");
  EXPECT_EQ(filled("longer-than-a-line and", 5), "longer-than-a-line\nand");
}

TEST(Filled, KeepsParagraphsAndLists) {
  EXPECT_EQ(filled("one\ntwo\n\nthree", 80), "one two\n\nthree");
  EXPECT_EQ(filled("to try:\n\n    a   b\n    c\nend", 80), "to try:\n\n    a   b\n    c\nend");
}

}  // namespace
}  // namespace pastcone::cli

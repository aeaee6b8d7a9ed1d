#include "pastcone/base/suggest.h"

#include <gtest/gtest.h>

namespace pastcone {
namespace {

TEST(Suggest, Distances) {
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", "abc"), 0u);
  EXPECT_EQ(edit_distance("recrod", "record"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(Suggest, OnlyWhatIsNear) {
  std::vector<std::string> commands = {"ls", "info", "ps", "events", "doctor", "version", "record", "replay"};
  EXPECT_EQ(suggest("recrod", commands), "record");
  EXPECT_EQ(suggest("lss", commands), "ls");
  EXPECT_EQ(suggest("ev", commands), "events");
  EXPECT_EQ(suggest("relpay", commands), "replay");
  EXPECT_EQ(suggest("frobnicate", commands), "");
  EXPECT_EQ(suggest(std::string(100'000, 'x'), commands), "");
}

}  // namespace
}  // namespace pastcone

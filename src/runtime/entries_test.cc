#include "entries.h"

#include <gtest/gtest.h>

#include <random>

namespace pastcone::runtime {
namespace {

struct Short {
  u32 bytes = 0;
  u64 skip = 0;
  i64 delta = 0;
};

/// What is read of what was written.
Short there_and_back(u64 skip, i64 delta) {
  char bytes[4] = {};
  Short result;
  u32 written = write_short(bytes, skip, delta);
  if (written == 0) return result;
  result.bytes = read_short(bytes, written, result.skip, result.delta);
  EXPECT_EQ(result.bytes, written);
  u64 skip_of_less = 0;
  i64 delta_of_less = 0;
  EXPECT_EQ(read_short(bytes, written - 1, skip_of_less, delta_of_less), 0u);
  return result;
}

void expect_bytes(u64 skip, i64 delta, u32 bytes) {
  Short read = there_and_back(skip, delta);
  EXPECT_EQ(read.bytes, bytes) << skip << " " << delta;
  if (bytes == 0) return;
  EXPECT_EQ(read.skip, skip);
  EXPECT_EQ(read.delta, delta);
}

TEST(Entries, AreShortWhereThreadsTakeTurns) {
  expect_bytes(1, 2, 2);
  expect_bytes(0, 0, 2);
  expect_bytes(127, 127 + 127, 2);
  expect_bytes(127, 127 - 64, 2);
}

TEST(Entries, GrowAtTheEdges) {
  expect_bytes(128, 200, 3);
  expect_bytes(127, 127 + 128, 3);
  expect_bytes(128, 128 + 128, 4);
  expect_bytes(16383, 2 * 16383, 4);
  expect_bytes(16384, 16384, 0);
  expect_bytes(1, 1 + 16384, 0);
  expect_bytes(500, 500 - 64, 3);
  expect_bytes(500, 500 - 65, 0);
}

TEST(Entries, OfTwoThatTakeTurnsLookTheSame) {
  char mine[4] = {}, other[4] = {};
  ASSERT_EQ(write_short(mine, 7, 7 + 300), 3u);  // I had it 7 times, then the other 300 times
  ASSERT_EQ(write_short(other, 300, 300 + 9), 3u);
  EXPECT_EQ(mine[1], other[0]);
  EXPECT_EQ(mine[2], other[1]);
}

TEST(Entries, ReadAsTheyWereWritten) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 200000; ++i) {
    u64 skip = random() >> (random() % 64);
    auto delta = static_cast<i64>(random() >> (random() % 64));
    if (random() % 4 == 0) delta = -delta;
    Short read = there_and_back(skip, delta);
    if (read.bytes == 0) continue;
    ASSERT_EQ(read.skip, skip);
    ASSERT_EQ(read.delta, delta);
  }
}

TEST(Entries, OfTheLongFormAreNotShort) {
  u64 skip = 0;
  i64 delta = 0;
  for (int head = 0; head < 256; ++head) {
    char bytes[4] = {static_cast<char>(head), 0, 0, 0};
    EXPECT_EQ(read_short(bytes, 4, skip, delta) == 0, (head & kLongMark) == kLongMark) << head;
  }
}

}  // namespace
}  // namespace pastcone::runtime

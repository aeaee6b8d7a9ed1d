#include "pastcone/trace/repetition.h"

#include <gtest/gtest.h>

#include <random>

namespace pastcone {
namespace {

Bytes random_bytes(size_t size, unsigned values, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(size);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random() % values);
  return bytes;
}

Bytes both(const Bytes& first, ByteView second) {
  Bytes bytes = first;
  bytes.insert(bytes.end(), second.begin(), second.end());
  return bytes;
}

TEST(Repetition, IsFoundHoweverFarApart) {
  for (size_t size : {size_t{50'000}, size_t{500'000}}) {
    Bytes one = random_bytes(size, 64, 1), other = random_bytes(size, 64, 2);
    EXPECT_FALSE(repeats_itself(one));
    EXPECT_FALSE(repeats_itself(both(one, other)));
    EXPECT_TRUE(repeats_itself(both(one, ByteView(one).subspan(1))));
    EXPECT_TRUE(repeats_itself(both(both(one, other), ByteView(one).subspan(size / 3))));
  }
}

TEST(Repetition, FewValuesAreNone) { EXPECT_FALSE(repeats_itself(random_bytes(1'000'000, 6, 3))); }

TEST(Repetition, ShortPatternsAreOne) {
  for (size_t period : {1, 2, 3, 7, 10, 30, 100, 1000}) {
    Bytes pattern = random_bytes(period, 64, 4), bytes;
    while (bytes.size() < 100'000) bytes.insert(bytes.end(), pattern.begin(), pattern.end());
    EXPECT_TRUE(repeats_itself(bytes)) << period;
  }
}

TEST(Repetition, LittleHasNone) {
  EXPECT_FALSE(repeats_itself({}));
  EXPECT_FALSE(repeats_itself(Bytes(23)));
}

}  // namespace
}  // namespace pastcone

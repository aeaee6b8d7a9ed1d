#include "pastcone/causal/numbers.h"

#include <gtest/gtest.h>

#include <random>

namespace pastcone::causal {
namespace {

TEST(Numbers, ComeBackAsTheyWere) {
  std::mt19937_64 random(1);
  std::vector<uint64_t> numbers{0, 127, 128, UINT32_MAX, UINT64_MAX};
  for (int i = 0; i < 100'000; ++i) numbers.push_back(random() >> random() % 64);
  NumberWriter writer;
  for (uint64_t number : numbers) writer.put(number);
  Bytes packed = writer.pack();
  auto reader = NumberReader::open(packed, writer.size());
  ASSERT_TRUE(reader);
  for (uint64_t number : numbers) {
    ASSERT_FALSE(reader->finished());
    ASSERT_EQ(reader->get(), number);
  }
  EXPECT_TRUE(reader->finished());
}

TEST(Numbers, BehindTheEndThereIsNothing) {
  NumberWriter writer;
  writer.put(1000);
  Bytes packed = writer.pack();
  auto reader = NumberReader::open(packed, writer.size());
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->get(), 1000u);
  EXPECT_TRUE(reader->finished());
  EXPECT_EQ(reader->get(), 0u);
  EXPECT_FALSE(reader->finished());
}

TEST(Numbers, AreRefusedIfTheirSizeIsWrong) {
  NumberWriter writer;
  for (uint64_t i = 0; i < 1000; ++i) writer.put(i);
  Bytes packed = writer.pack();
  EXPECT_FALSE(NumberReader::open(packed, writer.size() + 1));
  EXPECT_FALSE(NumberReader::open({}, 0));
}

TEST(Numbers, AreNotFinishedIfBytesAreMissing) {
  NumberWriter writer;
  for (uint64_t i = 0; i < 1000; ++i) writer.put(i);
  Bytes packed = writer.pack();
  auto reader = NumberReader::open(ByteView(packed).first(packed.size() - 1), writer.size());
  ASSERT_TRUE(reader);
  for (uint64_t i = 0; i < 1000; ++i) reader->get();
  EXPECT_FALSE(reader->finished());
}

TEST(Numbers, DifferencesUpAndDownAreSmall) {
  for (uint32_t difference : {0u, 1u, 2u, UINT32_MAX, UINT32_MAX - 1, 0x80000000u}) {
    EXPECT_EQ(unfolded(folded(difference)), difference);
  }
  EXPECT_EQ(folded(uint32_t{1}), 2u);
  EXPECT_EQ(folded(UINT32_MAX), 1u);  // one less
  EXPECT_EQ(folded(UINT64_MAX), 1u);
}

}  // namespace
}  // namespace pastcone::causal

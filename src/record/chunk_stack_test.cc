#include "pastcone/record/chunk_stack.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "pastcone/record/shared_stage.h"

namespace pastcone::record {
namespace {

class ChunkStackTest : public testing::Test {
 protected:
  SharedStage stage_ = SharedStage::create(stage::Mode::kRecord, 0, "/tmp").value();
  ChunkStack closed_{stage_.view(), stage_.header().closed_chunks};
};

TEST_F(ChunkStackTest, GivesEverythingOldestFirst) {
  EXPECT_TRUE(closed_.pop_all().empty());
  for (uint32_t index : {0u, 7u, 3u, stage::kMaxChunks - 1}) closed_.push(index);
  EXPECT_EQ(closed_.pop_all(), (std::vector<uint32_t>{0, 7, 3, stage::kMaxChunks - 1}));
  EXPECT_TRUE(closed_.pop_all().empty());
}

TEST_F(ChunkStackTest, TheTagChangesWithEveryOperation) {
  auto tag = [this] { return stage_.header().closed_chunks >> 32; };
  uint64_t before = tag();
  closed_.push(1);
  EXPECT_EQ(tag(), before + 1);
  closed_.pop_all();
  EXPECT_EQ(tag(), before + 2);
}

TEST_F(ChunkStackTest, ACircleOfLinksEnds) {
  closed_.push(1);
  closed_.push(2);
  stage_.view().chunk_link(1) = 3;  // 1 → 2 → 1 …
  EXPECT_EQ(closed_.pop_all().size(), stage::kMaxChunks);
}

TEST_F(ChunkStackTest, NothingIsLostOrDoubledBetweenThreads) {
  constexpr uint32_t kThreads = 4, kEach = 20000;
  std::atomic<uint32_t> running = kThreads;
  std::vector<std::thread> threads;
  for (uint32_t number = 0; number < kThreads; ++number) {
    threads.emplace_back([&, number] {
      for (uint32_t i = 0; i < kEach; ++i) closed_.push(number * kEach + i);
      --running;
    });
  }
  std::vector<uint32_t> all;
  bool last = false;
  while (!last) {
    last = running == 0;
    for (uint32_t index : closed_.pop_all()) all.push_back(index);
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(all.size(), kThreads * kEach);
  std::sort(all.begin(), all.end());
  for (uint32_t i = 0; i < all.size(); ++i) ASSERT_EQ(all[i], i);
}

}  // namespace
}  // namespace pastcone::record

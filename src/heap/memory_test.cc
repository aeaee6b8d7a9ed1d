// What the heap takes from the system, and gives back.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "heap.h"
#include "testing/test_pool.h"

namespace pastcone::heap {
namespace {

using testing::TestPool;

constexpr size_t kMegabyte = size_t{1} << 20;

class MemoryTest : public ::testing::Test {
 protected:
  MemoryTest() { heap_thread_begin(heap, test.pool); }

  void* filled(size_t size) { return memset(heap_malloc(heap, size), 1, size); }
  std::vector<void*> many(size_t size, size_t bytes) {
    std::vector<void*> blocks;
    for (size_t i = 0; i < bytes / size; ++i) blocks.push_back(filled(size));
    return blocks;
  }
  void free_all(const std::vector<void*>& blocks) {
    for (void* p : blocks) heap_free(heap, p);
  }

  TestPool test;
  ThreadHeap heap;
  std::mt19937_64 random{1};
};

TEST_F(MemoryTest, TakesLittleMoreThanIsAskedFor) {
  for (size_t size : {16, 64, 100, 1000, 3000, 9000, 20000}) {
    size_t before = test.resident();
    auto blocks = many(size, 8 * kMegabyte);
    size_t with_header = std::max<size_t>(32, (size + 8 + 15) / 16 * 16);  // as in glibc
    EXPECT_LT(test.resident() - before, 9 * kMegabyte * with_header / size + kMegabyte) << size;
  }
}

TEST_F(MemoryTest, SmallBlocksAreGivenBack) {
  for (size_t size : {200, 1500, 12000}) {
    auto blocks = many(size, 32 * kMegabyte);
    EXPECT_GE(test.resident(), 32 * kMegabyte);
    free_all(blocks);
    EXPECT_LT(test.resident(), 4 * kMegabyte) << size;
    heap_trim(heap);  // and forget
  }
}

// As in glibc: whoever has so many of them will have them again.
TEST_F(MemoryTest, MemoryOfTinyBlocksStays) {
  auto blocks = many(24, 32 * kMegabyte);
  free_all(blocks);
  EXPECT_GE(test.resident(), 24 * kMegabyte);
  heap_trim(heap);
  EXPECT_EQ(test.resident(), 0u);
}

TEST_F(MemoryTest, InAnyOrderSmallBlocksAreGivenBackWhenMuchIsFree) {
  for (size_t size : {200, 1500, 12000}) {
    auto blocks = many(size, 128 * kMegabyte);
    std::shuffle(blocks.begin(), blocks.end(), random);
    free_all(blocks);
    EXPECT_LT(test.resident(), 96 * kMegabyte) << size;
    EXPECT_LT(test.extent(), 192 * kMegabyte) << size;
    heap_trim(heap);
    EXPECT_EQ(test.resident(), 0u);
  }
}

TEST_F(MemoryTest, MemoryBetweenBlocksIsThereForOtherSizes) {
  std::vector<void*> kept;
  size_t kept_bytes = 0;
  for (int phase = 0; phase < 12; ++phase) {
    size_t most = size_t{48} << phase * 5 % 7;
    std::vector<std::pair<void*, size_t>> blocks;
    for (size_t bytes = 0; bytes < 16 * kMegabyte; bytes += blocks.back().second) {
      size_t size = most / 2 + random() % (most / 2);
      blocks.emplace_back(filled(size), size);
    }
    std::shuffle(blocks.begin(), blocks.end(), random);
    for (size_t i = 0; i < blocks.size(); ++i) {
      if (i % 20)
        heap_free(heap, blocks[i].first);
      else
        kept_bytes += blocks[i].second;
    }
  }
  EXPECT_LT(test.extent(), 64 * kMegabyte);
  EXPECT_GT(kept_bytes, 8 * kMegabyte);
}

TEST_F(MemoryTest, AThreadKeepsLittle) {
  std::vector<void*> blocks;
  for (int i = 0; i < 20'000; ++i) blocks.push_back(filled(1 + random() % (size_t{16} << random() % 12)));
  free_all(blocks);
  size_t kept = heap.kept;
  for (unsigned c = 0; c < kClasses; ++c) kept += (kSizes[c].most - heap.caches[c].room) * kSizes[c].size;
  EXPECT_LT(kept, kMegabyte / 5);
}

TEST_F(MemoryTest, LargeBlocksAreGivenBack) {
  auto blocks = many(700'000, 64 * kMegabyte);
  free_all(blocks);
  EXPECT_LT(test.resident(), 3 * kMegabyte);
  heap_free(heap, filled(100 * kMegabyte));  // at once, and not kept for later
  EXPECT_LT(test.resident(), 3 * kMegabyte);
}

TEST_F(MemoryTest, ABlockInALoopKeepsItsMemory) {
  heap_free(heap, filled(10 * kMegabyte));
  EXPECT_LT(test.resident(), kMegabyte);  // as long as nobody knows that it is a loop
  void* p = filled(10 * kMegabyte);
  for (int i = 0; i < 3; ++i) {
    heap_free(heap, p);
    EXPECT_GE(test.resident(), 10 * kMegabyte);
    EXPECT_EQ(p, heap_malloc(heap, 10 * kMegabyte));
  }
}

TEST_F(MemoryTest, SmallBlocksInALoopKeepTheirMemory) {
  for (int i = 0; i < 4; ++i) free_all(many(100, 8 * kMegabyte));
  EXPECT_GE(test.resident(), 8 * kMegabyte);
}

TEST_F(MemoryTest, TrimGivesBackAll) {
  auto blocks = many(100, kMegabyte);
  free_all(blocks);
  heap_free(heap, filled(5 * kMegabyte));
  heap_trim(heap);
  EXPECT_EQ(test.resident(), 0u);
}

TEST_F(MemoryTest, AThreadThatEndsLeavesNothingBehind) {
  for (int i = 0; i < 200; ++i) {
    ThreadHeap other;
    heap_thread_begin(other, test.pool);
    std::vector<void*> blocks;
    for (size_t size = 1; size < 40000; size += size / 5 + 1) blocks.push_back(heap_malloc(other, size));
    for (void* p : blocks) heap_free(i % 2 ? other : heap, p);
    heap_thread_end(other);
  }
  EXPECT_LT(test.extent(), 5 * kMegabyte);
  heap_trim(heap);
  EXPECT_EQ(test.pool.pages.used, 0u);
}

TEST_F(MemoryTest, WhatOneSizeLeavesAnotherUses) {
  std::vector<void*> blocks;
  for (size_t size = 24; size < 100'000; size += size / 3) {
    free_all(blocks);
    blocks = many(size, 16 * kMegabyte);
  }
  EXPECT_LT(test.extent(), 32 * kMegabyte);
}

TEST_F(MemoryTest, HolesAreFilled) {
  auto blocks = many(64, 32 * kMegabyte);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(blocks.begin(), blocks.end(), random);
    for (size_t i = 0; i < blocks.size() / 2; ++i) heap_free(heap, blocks[i]);
    for (size_t i = 0; i < blocks.size() / 2; ++i) blocks[i] = filled(64);
  }
  EXPECT_LT(test.resident(), 43 * kMegabyte);
}

TEST_F(MemoryTest, LargeBlocksOfManySizesDoNotFragment) {
  std::vector<void*> blocks(64);
  size_t most = 0;
  for (int i = 0; i < 20'000; ++i) {
    void*& p = blocks[random() % blocks.size()];
    heap_free(heap, p);
    p = heap_malloc(heap, 32768 + random() % 1'000'000);
    most = std::max(most, size_t{test.pool.pages.used} << kPageShift);
  }
  EXPECT_LT(test.extent(), most * 13 / 10);
}

TEST_F(MemoryTest, WhatAConsumerFreesAProducerGets) {
  ThreadHeap consumer;
  heap_thread_begin(consumer, test.pool);
  for (int i = 0; i < 200; ++i) {
    std::vector<void*> blocks;
    for (int j = 0; j < 1000; ++j) blocks.push_back(filled(random() % 2000));
    for (void* p : blocks) heap_free(consumer, p);
  }
  EXPECT_LT(test.resident(), 3 * kMegabyte);
}

}  // namespace
}  // namespace pastcone::heap

#include "heap.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <memory>
#include <random>

#include "testing/test_pool.h"

namespace pastcone::heap {
namespace {

using testing::TestPool;

class HeapTest : public ::testing::Test {
 protected:
  HeapTest() { heap_thread_begin(heap, test.pool); }
  ~HeapTest() override { EXPECT_TRUE(test.locks.all_free()); }

  TestPool test;
  ThreadHeap heap;
};

bool is_filled(const void* p, size_t size, unsigned char byte) {
  auto bytes = static_cast<const unsigned char*>(p);
  for (size_t i = 0; i < size; ++i)
    if (bytes[i] != byte) return false;
  return true;
}

TEST(SizeClasses, AreTheSmallestThatFit) {
  for (size_t size = 0; size <= kSmallMax; ++size) {
    unsigned c = class_of(size);
    ASSERT_GE(kSizes[c].size, size);
    ASSERT_TRUE(c == 0 || kSizes[c - 1].size < size);
    ASSERT_TRUE(size <= 264 || kSizes[c].size - size <= size / 8);
    ASSERT_EQ((kSizes[c].size + 8) % kAlignment, 0u);
    ASSERT_EQ(kSizes[c].units * kUnit, kSizes[c].size + 8);
  }
}

TEST_F(HeapTest, GivesDistinctAlignedBlocks) {
  std::map<char*, size_t> blocks;
  for (size_t size : {0, 1, 15, 16, 17, 100, 4096, 32768, 32769, 1 << 20})
    for (int i = 0; i < 50; ++i) {
      auto p = static_cast<char*>(heap_malloc(heap, size));
      ASSERT_TRUE(p);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(p) % kAlignment, 0u);
      EXPECT_GE(heap_usable_size(heap, p), size);
      blocks[p] = heap_usable_size(heap, p);
    }
  EXPECT_EQ(blocks.size(), 500u);
  char* end = nullptr;
  for (auto [p, size] : blocks) {
    EXPECT_GE(p, end);
    end = p + size;
    heap_free(heap, p);
  }
}

TEST_F(HeapTest, RefusesWhatCannotBe) {
  EXPECT_FALSE(heap_malloc(heap, SIZE_MAX));
  EXPECT_FALSE(heap_malloc(heap, SIZE_MAX / 2));
  EXPECT_FALSE(heap_malloc(heap, test.pool.size));
  EXPECT_FALSE(heap_calloc(heap, SIZE_MAX / 2, 3));
  EXPECT_FALSE(heap_memalign(heap, size_t{1} << 40, 1));
  EXPECT_FALSE(heap_memalign(heap, size_t{1} << 63, SIZE_MAX));
  void* p = heap_malloc(heap, 100000);
  EXPECT_FALSE(heap_realloc(heap, p, SIZE_MAX - 5));
  heap_free(heap, p);
  EXPECT_EQ(test.failure, "");
}

TEST_F(HeapTest, GoesOnWhenThereIsMemoryAgain) {
  test.map_limit = 0;
  EXPECT_FALSE(heap_malloc(heap, 10));
  EXPECT_FALSE(heap_malloc(heap, 100000));
  EXPECT_FALSE(heap_calloc(heap, 1, 10));
  test.map_limit = SIZE_MAX;
  EXPECT_TRUE(heap_malloc(heap, 10));
  EXPECT_TRUE(heap_malloc(heap, 100000));
}

TEST_F(HeapTest, CallocClearsWhatWasUsed) {
  for (size_t size : {10, 1000, 5000, 32768, 40000, 3 << 20}) {
    for (int round = 0; round < 20; ++round) {
      void* p = heap_calloc(heap, size, 1);
      ASSERT_TRUE(is_filled(p, size, 0)) << size << " in round " << round;
      memset(p, 0xff, heap_usable_size(heap, p));
      heap_free(heap, p);
    }
    std::vector<void*> blocks;  // and what goes through the pool, and becomes pages in between
    for (int i = 0; i < 100; ++i) memset(blocks.emplace_back(heap_malloc(heap, size)), 0xff, size);
    for (void* p : blocks) heap_free(heap, p);
    void* p = heap_calloc(heap, 1, 2 * size);
    ASSERT_TRUE(is_filled(p, 2 * size, 0));
    heap_free(heap, p);
  }
}

TEST_F(HeapTest, ReallocKeepsContents) {
  auto p = static_cast<char*>(heap_realloc(heap, nullptr, 1));
  *p = 7;
  void* neighbour = nullptr;
  size_t size = 1;
  for (; size < 20'000'000; size += size / 3 + 1) {
    p = static_cast<char*>(heap_realloc(heap, p, size));
    ASSERT_TRUE(is_filled(p, size / 4 + (size == 1), 7)) << size;
    memset(p, 7, size);
    if (neighbour) heap_free(heap, neighbour);
    neighbour = heap_malloc(heap, size);  // in the way
  }
  EXPECT_GT(test.moves, 0u);
  for (; size > 1; size /= 2) {
    p = static_cast<char*>(heap_realloc(heap, p, size));
    ASSERT_TRUE(is_filled(p, size < 10'000'000 ? size : 10'000'000, 7));
    EXPECT_LE(heap_usable_size(heap, p), size + size / 2 + kPageSize);
  }
  EXPECT_EQ(heap_realloc(heap, p, 0), nullptr);
}

TEST_F(HeapTest, LargeBlocksGrowInPlace) {
  void* p = heap_malloc(heap, 100'000);
  for (size_t size = 100'000; size < 3'000'000; size += 10'000) ASSERT_EQ(heap_realloc(heap, p, size), p);
  ASSERT_EQ(heap_realloc(heap, p, 50'000), p);
  EXPECT_LT(test.pool.pages.used, 20u);
}

TEST_F(HeapTest, Aligns) {
  std::map<char*, char*> blocks;
  for (size_t alignment = 1; alignment <= 1 << 21; alignment *= 2)
    for (size_t size : {0, 1, 24, 100, 1000, 5000, 20000, 32768, 40000, 1 << 20}) {
      auto p = static_cast<char*>(heap_memalign(heap, alignment, size));
      ASSERT_TRUE(p);
      ASSERT_EQ(reinterpret_cast<uintptr_t>(p) % alignment, 0u);
      ASSERT_GE(heap_usable_size(heap, p), size);
      memset(p, 1, size);
      blocks[p] = p + heap_usable_size(heap, p);
    }
  char* end = nullptr;
  for (auto [p, behind] : blocks) {
    ASSERT_GE(p, end);
    end = behind;
    heap_free(heap, p);
  }
  EXPECT_EQ(test.failure, "");
}

TEST_F(HeapTest, NoticesMisuse) {
  auto elsewhere = std::make_unique<uint64_t[]>(4);
  heap_free(heap, &elsewhere[2]);
  EXPECT_EQ(test.failure, "free(): invalid pointer");
  auto small = static_cast<char*>(heap_malloc(heap, 40)),
       large = static_cast<char*>(heap_malloc(heap, 100'000));
  for (char* p : {small + 8, large + 16, large + kPageSize, small + (1 << 30)}) {
    test.failure = "";
    heap_free(heap, p);
    EXPECT_EQ(test.failure, "free(): invalid pointer");
    EXPECT_EQ(heap_usable_size(heap, p), 0u);
    test.failure = "";
    EXPECT_FALSE(heap_realloc(heap, p, 10));
    EXPECT_EQ(test.failure, "realloc(): invalid pointer");
  }
  test.failure = "";
  heap_free(heap, small);
  heap_free(heap, large);
  EXPECT_EQ(test.failure, "");
  heap_free(heap, small);
  EXPECT_EQ(test.failure, "double free or corruption (fasttop)");
  heap_free(heap, large);
  EXPECT_EQ(test.failure, "double free or corruption (out)");
}

TEST_F(HeapTest, TheChildOfAForkGoesOn) {
  void* before = heap_malloc(heap, 50);
  heap_lock_all(test.pool);
  pid_t child = fork();
  heap_unlock_all(test.pool);
  if (child == 0) heap_forked(heap);
  void* p = heap_malloc(heap, 50);
  if (child == 0) {
    heap_free(heap, before);
    void* large = heap_malloc(heap, 100'000);
    // The same address as in the parent: it is a copy.
    _exit(p && large && heap_malloc(heap, 50) == before ? 0 : 1);
  }
  int status;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(HeapTest, RandomCallsKeepBlocksApart) {
  struct Held {
    size_t size;
    unsigned char byte;
  };
  std::map<char*, Held> blocks;
  std::mt19937_64 random(42);
  auto some_size = [&] {
    size_t limit = size_t{1} << random() % 19;
    return random() % limit;
  };
  auto check_room = [&](char* p, size_t size) {
    auto after = blocks.lower_bound(p);
    ASSERT_TRUE(after == blocks.end() || p + size <= after->first);
    if (after != blocks.begin()) {
      --after;
      ASSERT_LE(after->first + after->second.size, p);
    }
  };
  for (int i = 0; i < 60'000; ++i) {
    auto held = blocks.lower_bound(
        reinterpret_cast<char*>(test.pool.address(test.pool.pages.begin) + random() % (test.extent() + 1)));
    if (held == blocks.end()) held = blocks.begin();
    size_t size = some_size();
    uint64_t what = random() % 10;
    if (blocks.size() > 2000 || (what < 4 && !blocks.empty())) {
      ASSERT_TRUE(is_filled(held->first, held->second.size, held->second.byte));
      heap_free(heap, held->first);
      blocks.erase(held);
      continue;
    }
    char* p;
    if (what == 4 && !blocks.empty()) {
      auto [old, had] = *held;
      p = static_cast<char*>(heap_realloc(heap, old, size + 1));
      blocks.erase(held);
      ASSERT_TRUE(is_filled(p, std::min(had.size, size + 1), had.byte));
    } else if (what == 5) {
      p = static_cast<char*>(heap_memalign(heap, size_t{1} << random() % 17, size));
    } else if (what == 6) {
      p = static_cast<char*>(heap_calloc(heap, size, 1));
      ASSERT_TRUE(is_filled(p, size, 0));
    } else {
      p = static_cast<char*>(heap_malloc(heap, size));
    }
    ASSERT_TRUE(p);
    size = heap_usable_size(heap, p);
    check_room(p, size);
    auto byte = static_cast<unsigned char>(random());
    memset(p, byte, size);
    blocks[p] = {size, byte};
  }
  EXPECT_EQ(test.failure, "");
}

}  // namespace
}  // namespace pastcone::heap

// Addresses depend on what each thread does and on the order of the locks, and on nothing else: threads run,
// the order of the locks is kept, and they run again at another pace.
#include <gtest/gtest.h>
#include <sched.h>

#include <cstring>
#include <deque>
#include <functional>
#include <random>
#include <thread>

#include "heap.h"
#include "testing/test_pool.h"

namespace pastcone::heap {
namespace {

using testing::Locks;
using testing::TestPool;

constexpr int kThreads = 4;
constexpr unsigned kQueueLock = kLocks;

/// Threads that allocate, free, and leave blocks to each other in a queue, under a lock as programs have.
class Program {
 public:
  using Addresses = std::vector<std::vector<uintptr_t>>;  // by thread

  Program(TestPool& test, uint64_t seed, uint64_t pace)
      : test_(test), seed_(seed), pace_(pace), seen_(kThreads) {}

  Addresses run() {
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back([this, i] { thread(i); });
    for (auto& t : threads) t.join();
    return seen_;
  }

 private:
  void thread(int number) {
    Locks::thread = number;
    std::mt19937_64 random(seed_ + static_cast<uint64_t>(number)),
        pace(pace_ * 1000 + static_cast<uint64_t>(number));
    ThreadHeap heap;
    heap_thread_begin(heap, test_.pool);
    std::vector<char*> own(300);
    for (int i = 0; i < 15'000; ++i) {
      if (pace() % 64 == 0) sched_yield();
      for (uint64_t n = pace() % 4096 == 0 ? 100'000 : 0; n > 0; --n) asm volatile("");
      step(number, heap, own[random() % own.size()], random);
      if (random() % 5000 == 0) heap_thread_end(heap);
    }
    for (char* p : own) heap_free(heap, p);
    heap_thread_end(heap);
  }

  void step(int number, ThreadHeap& heap, char*& slot, std::mt19937_64& random) {
    size_t size = random() % (size_t{16} << random() % 14);
    switch (random() % 8) {
      case 0:
        slot = static_cast<char*>(heap_realloc(heap, slot, size + 1));
        break;
      case 1:
        heap_free(heap, slot);
        slot = static_cast<char*>(heap_memalign(heap, size_t{16} << random() % 9, size));
        break;
      case 2:
        exchange(slot);
        break;
      default:
        heap_free(heap, slot);
        slot = static_cast<char*>(heap_malloc(heap, size));
    }
    // Who else has the block would see this, and so would the thread sanitizer.
    if (slot) memset(slot, number, heap_usable_size(heap, slot));
    seen_[static_cast<size_t>(number)].push_back(reinterpret_cast<uintptr_t>(slot));
  }

  void exchange(char*& slot) {
    test_.locks.lock(kQueueLock);
    queue_.push_back(slot);
    slot = queue_.size() > 100 ? queue_.front() : nullptr;
    if (slot) queue_.pop_front();
    test_.locks.unlock(kQueueLock);
  }

  TestPool& test_;
  uint64_t seed_, pace_;
  Addresses seen_;
  std::deque<char*> queue_;
};

TEST(Determinism, TheSameOrderOfLocksGivesTheSameAddresses) {
  for (uint64_t seed : {1, 2, 3}) {
    Locks::Order order;
    Program::Addresses recorded;
    {
      TestPool test;
      recorded = Program(test, seed, 0).run();
      order = test.locks.order();
    }
    for (uint64_t pace : {1, 2, 3}) {
      TestPool test;
      test.locks.replay(order);
      EXPECT_TRUE(Program(test, seed, pace).run() == recorded) << "seed " << seed << ", pace " << pace;
      EXPECT_TRUE(test.locks.order() == order);
      EXPECT_EQ(test.failure, "");
    }
  }
}

/// One thread after the other, as in a list.
std::vector<uintptr_t> in_turn(const std::vector<int>& turns, bool discards) {
  TestPool test;
  if (!discards) test.pool.platform.discard = [](void*, uintptr_t, size_t) { return false; };
  std::vector<ThreadHeap> heaps(2);
  for (ThreadHeap& heap : heaps) heap_thread_begin(heap, test.pool);
  std::vector<uintptr_t> seen;
  std::mt19937_64 random(5);
  std::vector<void*> blocks(500);
  for (int turn : turns)
    for (int i = 0; i < 3000; ++i) {
      void*& p = blocks[random() % blocks.size()];
      heap_free(heaps[static_cast<size_t>(turn)], p);
      p = heap_malloc(heaps[static_cast<size_t>(turn)], random() % (random() % 50 ? 3000 : 5'000'000));
      seen.push_back(reinterpret_cast<uintptr_t>(p));
    }
  return seen;
}

TEST(Determinism, TheOrderOfThreadsMatters) {  // or else the test above could not fail
  EXPECT_EQ(in_turn({0, 1, 0, 1}, true), in_turn({0, 1, 0, 1}, true));
  EXPECT_NE(in_turn({0, 1, 0, 1}, true), in_turn({0, 0, 1, 1}, true));
}

TEST(Determinism, GivingMemoryBackChangesNoAddress) {
  EXPECT_EQ(in_turn({0, 1, 0, 1}, true), in_turn({0, 1, 0, 1}, false));
}

}  // namespace
}  // namespace pastcone::heap

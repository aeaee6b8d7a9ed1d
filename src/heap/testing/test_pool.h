// A pool for tests: at addresses of its own, with locks whose order is recorded and can be asked for again.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "../heap.h"

namespace pastcone::heap::testing {

/// Locks by number. Which threads took each of them, one after the other, is their order.
class Locks {
 public:
  using Order = std::vector<std::vector<int>>;  // by lock: threads
  explicit Locks(unsigned count) : locks_(count) {}

  /// From now on, locks are taken in that order.
  void replay(const Order& order);
  Order order() const;
  void lock(unsigned number);
  void unlock(unsigned number);
  bool all_free() const;

  static thread_local int thread;  // the number of the calling thread

 private:
  struct Lock {
    std::mutex mutex;
    std::condition_variable changed;
    bool held = false;
    std::vector<int> taken, wanted;
  };
  std::vector<Lock> locks_;
  std::atomic<bool> replays_ = false;
};

/// The same range of addresses every time; it is unmapped at the end.
class TestPool {
 public:
  explicit TestPool(size_t size = size_t{1} << 36);
  ~TestPool();
  TestPool(const TestPool&) = delete;
  TestPool& operator=(const TestPool&) = delete;

  Pool pool;
  Locks locks{kLocks + 1};  // the last one is for the test
  std::string failure;      // the last message
  size_t map_limit = SIZE_MAX;
  size_t moves = 0;

  /// Bytes of the heap that take up memory.
  size_t resident() const;
  size_t extent() const { return size_t{pool.pages.top - pool.pages.begin} << kPageShift; }
};

}  // namespace pastcone::heap::testing

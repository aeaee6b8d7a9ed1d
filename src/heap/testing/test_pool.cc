#include "test_pool.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <stdexcept>

namespace pastcone::heap::testing {
namespace {

constexpr uintptr_t kBase = 0x7e9000000000;  // where the sanitizers allow it, too

constexpr std::chrono::seconds kPatience{20};

TestPool& self(void* context) { return *static_cast<TestPool*>(context); }
void* pointer(uintptr_t address) { return reinterpret_cast<void*>(address); }

bool map(void* context, uintptr_t address, size_t size) {
  if (size > self(context).map_limit) return false;
  return mmap(pointer(address), size, PROT_READ | PROT_WRITE,
              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0) == pointer(address);
}

bool discard(void*, uintptr_t address, size_t size) {
  return madvise(pointer(address), size, MADV_DONTNEED) == 0;
}

bool move(void* context, uintptr_t from, uintptr_t to, size_t size) {
  ++self(context).moves;
  return mremap(pointer(from), size, size, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, pointer(to)) !=
         MAP_FAILED;
}

}  // namespace

thread_local int Locks::thread = 0;

void Locks::replay(const Order& order) {
  replays_ = true;
  for (size_t i = 0; i < locks_.size(); ++i) locks_[i].wanted = order[i];
}

Locks::Order Locks::order() const {
  Order all;
  for (const Lock& lock : locks_) all.push_back(lock.taken);
  return all;
}

void Locks::lock(unsigned number) {
  Lock& own = locks_.at(number);
  std::unique_lock guard(own.mutex);
  auto free = [&] { return !own.held; };
  auto my_turn = [&] {
    return !own.held &&
           (!replays_ || own.taken.size() >= own.wanted.size() || own.wanted[own.taken.size()] == thread);
  };
  if (!own.changed.wait_for(guard, kPatience, my_turn)) {  // better a test that fails than one that hangs
    if (replays_.exchange(false)) ADD_FAILURE() << "thread " << thread << " waits for lock " << number;
    own.changed.wait(guard, free);
  }
  own.held = true;
  own.taken.push_back(thread);
}

void Locks::unlock(unsigned number) {
  Lock& own = locks_.at(number);
  std::lock_guard guard(own.mutex);
  EXPECT_TRUE(own.held);
  own.held = false;
  own.changed.notify_all();
}

bool Locks::all_free() const {
  for (const Lock& lock : locks_)
    if (lock.held) return false;
  return true;
}

TestPool::TestPool(size_t size) {
  Platform platform{this,
                    [](void* context, unsigned number) { self(context).locks.lock(number); },
                    [](void* context, unsigned number) { self(context).locks.unlock(number); },
                    map,
                    discard,
                    move,
                    nullptr,
                    [](void* context, const char* message) { self(context).failure = message; }};
  if (!heap_init(pool, platform, kBase, size)) throw std::runtime_error("the range is taken");
}

TestPool::~TestPool() { munmap(pointer(pool.base), pool.size); }

size_t TestPool::resident() const {
  std::vector<unsigned char> pages(pool.pages.top - pool.pages.begin);
  if (pages.empty()) return 0;
  if (mincore(pointer(pool.address(pool.pages.begin)), extent(), pages.data()) != 0) return SIZE_MAX;
  size_t count = 0;
  for (unsigned char page : pages) count += page & 1;
  return count << kPageShift;
}

}  // namespace pastcone::heap::testing

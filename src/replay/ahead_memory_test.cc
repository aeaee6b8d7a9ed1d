// The memory of a child of ours, which sleeps.
#include "pastcone/replay/ahead_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <random>
#include <vector>

#include "pastcone/replay/traced_memory.h"

namespace pastcone::replay {
namespace {

constexpr size_t kRoom = 1 << 18;

class AheadMemoryTest : public testing::Test {
 protected:
  AheadMemoryTest() {
    void* room = mmap(nullptr, kRoom, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    room_ = reinterpret_cast<uint64_t>(room);
    for (size_t i = 0; i < kRoom; ++i) static_cast<uint8_t*>(room)[i] = static_cast<uint8_t>(random_());
    model_.assign(static_cast<uint8_t*>(room), static_cast<uint8_t*>(room) + kRoom);
    child_ = fork();
    if (child_ == 0)
      for (;;) pause();
    memory_ = TracedMemory::open(child_).value();
  }
  ~AheadMemoryTest() override {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    munmap(reinterpret_cast<void*>(room_), kRoom);
  }

  std::mt19937_64 random_{3};
  uint64_t room_ = 0;
  std::vector<uint8_t> model_;
  pid_t child_ = 0;
  std::shared_ptr<TracedMemory> memory_;
};

TEST_F(AheadMemoryTest, HasWhatWasWritten) {
  AheadMemory ahead(child_, *memory_);
  const size_t sizes[] = {1, 2, 4, 8, 16, 32, 64, 300};
  for (int i = 0; i < 100'000 && !HasFailure(); ++i) {
    size_t size = sizes[random_() % (i % 50 == 0 ? 8 : 7)], at = random_() % (kRoom - size);
    if (random_() % 4 != 0) at = at % 2048 + at / 4096 % 4 * 65536;  // some that lie in the same places here
    uint8_t bytes[300];
    if (random_() % 2 == 0) {
      for (size_t k = 0; k < size; ++k) bytes[k] = model_[at + k] = static_cast<uint8_t>(random_());
      ASSERT_TRUE(ahead.write(room_ + at, bytes, size));
      AheadMemory::Written written = ahead.take_written();
      EXPECT_EQ(written.address, room_ + at);
      EXPECT_EQ(written.size, size);
    } else {
      ASSERT_TRUE(ahead.read(room_ + at, bytes, size));
      EXPECT_EQ(std::memcmp(bytes, model_.data() + at, size), 0) << at << " " << size;
    }
    if (i % 5000 == 0) ahead.forget();
  }
  ahead.flush();
  std::vector<uint8_t> there(kRoom);
  ASSERT_TRUE(memory_->read_through(room_, there.data(), kRoom));
  EXPECT_EQ(there, model_);
}

TEST_F(AheadMemoryTest, HasNothingAtNull) {
  AheadMemory ahead(child_, *memory_);
  for (int round = 0; round < 2; ++round) {
    uint64_t value = 5;
    EXPECT_TRUE(ahead.write(room_, &value, sizeof value));
    for (uint64_t address : {0, 8, 200, 4096}) {
      EXPECT_FALSE(ahead.read(address, &value, sizeof value)) << address;
      EXPECT_FALSE(ahead.write(address, &value, sizeof value)) << address;
      EXPECT_TRUE(ahead.code(address).empty()) << address;
    }
    ahead.forget();
  }
}

TEST_F(AheadMemoryTest, HasCode) {
  AheadMemory ahead(child_, *memory_);
  auto here = reinterpret_cast<uint64_t>(&kill);
  for (uint64_t at = here; at < here + 600; ++at) {
    auto code = ahead.code(at);
    ASSERT_EQ(code.size(), 15u);
    EXPECT_EQ(std::memcmp(code.data(), reinterpret_cast<void*>(at), code.size()), 0);
  }
  EXPECT_TRUE(ahead.code(room_).empty());  // may not be executed
}

}  // namespace
}  // namespace pastcone::replay

// rep movs and rep stos, all rounds at once.
#include <gtest/gtest.h>

#include <vector>

#include "pastcone/replay/testing/processor.h"

namespace pastcone::replay {
namespace {

class EmulateRepeatedTest : public testing::Test {
 protected:
  bool emulated(const std::vector<uint8_t>& code, user_regs_struct& registers) {
    SharedMemory memory(processor_.memory());
    EmulationBounds bounds{processor_.id(), true, false, true};
    bounds.memory = &memory;
    bounds.looked_at = [this](uint64_t address, uint64_t size) {
      return address <= looked_at_ && looked_at_ < address + size;
    };
    return emulate(code, registers, bounds);
  }

  /// Whether it is done; then everything must be as the processor leaves it.
  bool compare(const std::vector<uint8_t>& code, user_regs_struct registers) {
    uint8_t* memory = processor_.memory();
    std::memcpy(memory + 128, code.data(), code.size());
    std::vector<uint8_t> before(memory, memory + kSize);
    user_regs_struct real = registers, start = registers;
    bool done = emulated(code, registers);
    std::vector<uint8_t> then(memory, memory + kSize);
    if (!done) {
      EXPECT_EQ(std::memcmp(&registers, &start, sizeof start), 0);
      EXPECT_EQ(then, before);
      return false;
    }
    std::memcpy(memory, before.data(), kSize);
    while (processor_.step(real) && real.rip == start.rip && real.rcx != 0) {
    }
    registers.orig_rax = real.orig_rax;
    EXPECT_EQ(std::memcmp(&registers, &real, sizeof real), 0) << testing::PrintToString(code);
    EXPECT_EQ(std::memcmp(memory, then.data(), kSize), 0) << testing::PrintToString(code);
    return true;
  }

  user_regs_struct registers(uint64_t to, uint64_t from, uint64_t count) {
    user_regs_struct all = some_registers(processor_, random_);
    auto base = reinterpret_cast<uint64_t>(processor_.memory());
    all.rip = base + 128;
    all.rdi = base + to;
    all.rsi = base + from;
    all.rcx = count;
    return all;
  }

  Processor processor_;
  std::mt19937_64 random_{5};
  uint64_t looked_at_ = 0;
};

const std::vector<uint8_t> kFill = {0xf3, 0xaa}, kCopy = {0xf3, 0xa4};

TEST_F(EmulateRepeatedTest, DoesAsTheProcessor) {
  int done = 0;
  for (uint8_t* at = processor_.memory() + 4096; at < processor_.memory() + kSize; ++at)
    *at = static_cast<uint8_t>(random_());
  for (int i = 0; i < 500 && !HasFailure(); ++i) {
    std::vector<uint8_t> code = {0xf3};
    if (random_() % 2 == 0) code.push_back(static_cast<uint8_t>(0x40 | random_() % 16));
    const uint8_t operations[] = {0xa4, 0xa5, 0xaa, 0xab};
    code.push_back(operations[random_() % 4]);
    uint64_t to = 8192 + random_() % 8192, from = 8192 + random_() % 8192;
    done += compare(code, registers(to, from, random_() % 8 == 0 ? random_() % 2000 : random_() % 40)) ? 1 : 0;
  }
  EXPECT_GT(done, 300);
}

TEST_F(EmulateRepeatedTest, LeavesWhatMayStopInBetween) {
  EXPECT_TRUE(compare(kFill, registers(8192, 0, 4096)));
  EXPECT_FALSE(compare(kFill, registers(8193, 0, 4096)));                 // two pages
  EXPECT_FALSE(compare(kFill, registers(8192, 0, ~uint64_t{0} / 2 + 2)));  // and more
  EXPECT_TRUE(compare(kFill, registers(8190, 0, 0)));
  EXPECT_TRUE(compare(kCopy, registers(8192, 8200, 8)));
  EXPECT_FALSE(compare(kCopy, registers(8192, 8200, 9)));  // what is copied changes on the way
  EXPECT_FALSE(compare(kCopy, registers(8192, kSize - 4, 5)));
  user_regs_struct backwards = registers(8192, 0, 8);
  backwards.eflags |= 0x400;
  EXPECT_FALSE(compare(kFill, backwards));
  EXPECT_FALSE(compare({0xf2, 0xaa}, registers(8192, 0, 8)));
  EXPECT_FALSE(compare({0xf3}, registers(8192, 0, 8)));
  user_regs_struct watched = registers(8192, 0, 8);
  looked_at_ = watched.rdi + 7;
  EXPECT_FALSE(compare(kFill, watched));
  looked_at_ = watched.rdi + 8;
  EXPECT_TRUE(compare(kFill, watched));
}

}  // namespace
}  // namespace pastcone::replay

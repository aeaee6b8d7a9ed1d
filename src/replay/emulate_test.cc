#include "pastcone/replay/emulate.h"

#include <gtest/gtest.h>

#include <cstring>
#include <iterator>
#include <random>
#include <vector>

#include "pastcone/replay/testing/processor.h"
#include "pastcone/replay/watchpoints.h"

namespace pastcone::replay {
namespace {

class EmulateTest : public testing::Test {
 protected:
  /// Whether it was emulated; if so, everything must be as the processor does it.
  bool compare(std::vector<uint8_t> code, bool called = false, uint64_t meaningless_flags = 0) {
    user_regs_struct emulated = some_registers(processor_, random_), real = emulated;
    uint8_t* memory = processor_.memory();
    for (size_t i = 4096; i < kSize; i += 8) {
      uint64_t word = random_();
      std::memcpy(memory + i, &word, sizeof word);
    }
    std::memcpy(memory + 128, code.data(), code.size());
    std::vector<uint8_t> before(memory, memory + kSize);
    bool done = emulate(code, emulated, {processor_.id(), true, false, called});
    std::vector<uint8_t> then(memory, memory + kSize);
    std::memcpy(memory, before.data(), kSize);
    if (!done) {
      EXPECT_EQ(std::memcmp(&emulated, &real, sizeof real), 0);
      EXPECT_EQ(then, before);
      return false;
    }
    EXPECT_TRUE(processor_.step(real));
    emulated.orig_rax = real.orig_rax;
    emulated.eflags = (emulated.eflags & ~meaningless_flags) | (real.eflags & meaningless_flags);
    EXPECT_EQ(std::memcmp(&emulated, &real, sizeof real), 0)
        << testing::PrintToString(code) << " rip " << emulated.rip - real.rip << " flags " << std::hex
        << (emulated.eflags ^ real.eflags);
    EXPECT_EQ(std::memcmp(memory, then.data(), kSize), 0) << testing::PrintToString(code);
    return true;
  }

  std::mt19937_64 random_{7};
  Processor processor_;
};

TEST_F(EmulateTest, DoesAsTheProcessor) {
  std::vector<uint8_t> operations = {0x0f, 0x63, 0x90, 0x50, 0x53, 0x55, 0x57, 0x74, 0x7f, 0xeb, 0xe9,
                                     0x89, 0x8b, 0x8d, 0xb8, 0xbf, 0xc7, 0x81, 0x83, 0x01, 0x09, 0x21,
                                     0x29, 0x31, 0x39, 0x03, 0x0b, 0x23, 0x2b, 0x33, 0x3b, 0x85};
  int emulated = 0;
  for (int i = 0; i < 6000 && !HasFailure(); ++i) {
    std::vector<uint8_t> code;
    if (random_() % 2 == 0) code.push_back(static_cast<uint8_t>(0x40 | random_() % 16));
    code.push_back(operations[random_() % operations.size()]);
    if (code.back() == 0x0f) {
      const uint8_t second[] = {0x1f, 0xb6, 0xb7, 0xbe, 0xbf, static_cast<uint8_t>(0x80 | random_() % 16)};
      code.push_back(second[random_() % std::size(second)]);
    }
    auto form = static_cast<uint8_t>(random_());
    if (random_() % 4 != 0 && form < 0xc0)
      form = static_cast<uint8_t>((form & 0x3f) | 0x40);  // a small distance
    code.push_back(form);
    while (code.size() < 15)
      code.push_back(static_cast<uint8_t>(random_() % 8 == 0 ? random_() : random_() % 64));
    emulated += compare(code) ? 1 : 0;
  }
  EXPECT_GT(emulated, 1800);
}

TEST_F(EmulateTest, DoesWhatFunctionsBeginWith) {
  EXPECT_TRUE(compare({0xf3, 0x0f, 0x1e, 0xfa}));              // endbr64
  EXPECT_TRUE(compare({0x55}));                                // push %rbp
  EXPECT_TRUE(compare({0x48, 0x89, 0xe5}));                    // mov %rsp, %rbp
  EXPECT_TRUE(compare({0x48, 0x83, 0xec, 0x20}));              // sub $32, %rsp
  EXPECT_TRUE(compare({0x89, 0x7c, 0x24, 0xfc}));              // mov %edi, -4(%rsp)
  EXPECT_TRUE(compare({0x48, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}));  // movabs
  EXPECT_TRUE(compare({0xc7, 0x44, 0x24, 0x10, 1, 0, 0, 0}));  // movl $1, 16(%rsp)
  EXPECT_TRUE(compare({0x48, 0x8d, 0x05, 0, 1, 0, 0}));        // lea 256(%rip), %rax
}

/// Flags that an instruction leaves in some state.
uint64_t meaningless_after(uint8_t operation) {
  constexpr uint64_t kShift = 0x810;
  bool shifts = operation == 0xc1 || operation == 0xd1 || operation == 0xd3;
  return shifts ? kShift : 0;
}

TEST_F(EmulateTest, DoesWhatFunctionsAreMadeOf) {
  std::vector<uint8_t> operations = {0x58, 0x5d, 0x98, 0x99, 0xe8, 0x69, 0x6b, 0xc1, 0xd1, 0xd3, 0x05, 0x0d,
                                     0x25, 0x2d, 0x35, 0x3d, 0xa9, 0xf7, 0xff, 0x80, 0x84, 0x88, 0x8a, 0xa8,
                                     0xc6, 0x00, 0x02, 0x04, 0x20, 0x28, 0x30, 0x38, 0x3a, 0x3c, 0x0f, 0x0f};
  int emulated = 0;
  for (int i = 0; i < 6000 && !HasFailure(); ++i) {
    std::vector<uint8_t> code;
    if (random_() % 2 == 0) code.push_back(static_cast<uint8_t>(0x40 | random_() % 16));
    uint8_t operation = operations[random_() % operations.size()];
    code.push_back(operation);
    const uint8_t seconds[] = {0xaf, 0xb6, 0xbe, static_cast<uint8_t>(0xc8 | random_() % 8),
                               static_cast<uint8_t>(0x40 | random_() % 16),
                               static_cast<uint8_t>(0x90 | random_() % 16)};
    uint8_t second = seconds[random_() % std::size(seconds)];
    if (operation == 0x0f) code.push_back(second);
    auto form = static_cast<uint8_t>(random_());
    if (random_() % 2 != 0) form = static_cast<uint8_t>((form & 0x3f) | (random_() % 2 == 0 ? 0x40 : 0xc0));
    if (operation == 0xff) form = static_cast<uint8_t>(form & ~0x30);  // no jumps to anywhere
    code.push_back(form);
    while (code.size() < 15)
      code.push_back(static_cast<uint8_t>(random_() % 8 == 0 ? random_() : random_() % 64));
    emulated += compare(code, true, meaningless_after(operation)) ? 1 : 0;
  }
  EXPECT_GT(emulated, 1500);
  EXPECT_TRUE(compare({0xe8, 0, 1, 0, 0}, true));
  EXPECT_TRUE(compare({0x48, 0x99}, true));
  EXPECT_TRUE(compare({0x68, 1, 2, 3, 0x84}, true));           // push
  EXPECT_TRUE(compare({0x6a, 0x81}, true));                    // push
  EXPECT_TRUE(compare({0x3e, 0x48, 0x8d, 0x04, 0x24}, true));  // a prefix without a meaning
  EXPECT_TRUE(compare({0x66, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0}, true));  // nopw
  EXPECT_FALSE(compare({0xdd, 0x06}, true));                                        // fld
}

TEST_F(EmulateTest, CallsAndReturns) {
  user_regs_struct emulated = some_registers(processor_, random_), start = emulated;
  EmulationBounds bounds{processor_.id(), true, false, true};
  auto back = static_cast<uint64_t>(start.rip) + 5;
  ASSERT_TRUE(emulate(std::vector<uint8_t>{0xe8, 0, 1, 0, 0}, emulated, bounds));
  EXPECT_EQ(emulated.rip, back + 256);
  ASSERT_TRUE(emulate(std::vector<uint8_t>{0x55}, emulated, bounds));
  ASSERT_TRUE(emulate(std::vector<uint8_t>{0x48, 0x89, 0xe5}, emulated, bounds));
  ASSERT_TRUE(emulate(std::vector<uint8_t>{0x48, 0x83, 0xec, 0x20}, emulated, bounds));
  ASSERT_TRUE(emulate(std::vector<uint8_t>{0xc9}, emulated, bounds));
  EXPECT_EQ(emulated.rbp, start.rbp);
  ASSERT_TRUE(emulate(std::vector<uint8_t>{0xc3}, emulated, bounds));
  EXPECT_EQ(emulated.rip, back);
  EXPECT_EQ(emulated.rsp, start.rsp);
}

TEST_F(EmulateTest, LeavesTheRestAlone) {
  EXPECT_FALSE(compare({0xc3}));                          // ret
  EXPECT_FALSE(compare({0xe8, 0, 0, 0, 0}));              // call
  EXPECT_FALSE(compare({0x64, 0x48, 0x8b, 0x04, 0x25}));  // %fs:
  EXPECT_FALSE(compare({0xf3, 0x90}));                    // pause
  EXPECT_FALSE(compare({0x49, 0x90}));                    // xchg %r8, %rax
  EXPECT_FALSE(compare({0xf0, 0x48, 0x01, 0x04, 0x24}));  // lock
  EXPECT_FALSE(compare({0x48, 0x83}));                    // cut off
  EXPECT_FALSE(compare({}));
}

TEST_F(EmulateTest, KeepsWithinItsBounds) {
  user_regs_struct registers = some_registers(processor_, random_);
  const std::vector<uint8_t> push = {0x55}, load = {0x48, 0x8b, 0x06};  // mov (%rsi), %rax
  registers.rsi = reinterpret_cast<uint64_t>(processor_.memory());
  EXPECT_FALSE(emulate(push, registers, {processor_.id(), true, true}));
  EXPECT_FALSE(emulate(load, registers, {processor_.id(), false, false}));
  EXPECT_TRUE(emulate(load, registers, {processor_.id(), true, false}));
  registers.rsi = 8;
  EXPECT_FALSE(emulate(load, registers, {processor_.id(), true, false}));
}

TEST_F(EmulateTest, LeavesWhatIsWatchedToTheProcessor) {
  user_regs_struct registers = some_registers(processor_, random_);
  const std::vector<uint8_t> push = {0x55}, load = {0x48, 0x8b, 0x06};  // mov (%rsi), %rax
  registers.rsi = reinterpret_cast<uint64_t>(processor_.memory());
  Watchpoints watches;
  EmulationBounds bounds{processor_.id(), true, false, false, &watches};
  ASSERT_TRUE(watches.add(registers.rsi, 8, false));
  EXPECT_TRUE(emulate(load, registers, bounds));
  EXPECT_TRUE(emulate(push, registers, bounds));
  ASSERT_TRUE(watches.add(registers.rsi + 4, 4, true));
  EXPECT_FALSE(emulate(load, registers, bounds));
  ASSERT_TRUE(watches.add(registers.rsp - 4, 1, false));
  EXPECT_FALSE(emulate(push, registers, bounds));
}

}  // namespace
}  // namespace pastcone::replay

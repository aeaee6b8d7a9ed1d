#include "pastcone/replay/stores.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sys/uio.h>

#include <cstring>
#include <iterator>
#include <vector>

#include "pastcone/replay/testing/processor.h"

namespace pastcone::replay {
namespace {

class StoresTest : public testing::Test {
 protected:
  StoresTest() {
    context_.read = [this](uint64_t address, void* to, size_t size) {
      auto base = reinterpret_cast<uint64_t>(processor_.memory());
      if (address < base || address - base > kSize - size) return false;
      std::memcpy(to, reinterpret_cast<void*>(address), size);
      return true;
    };
    context_.vector = [this](unsigned number, void* to, size_t size) {
      uint8_t state[832];
      iovec into{state, sizeof state};
      if (ptrace(PTRACE_GETREGSET, processor_.id(), NT_X86_XSTATE, &into) != 0) return false;
      std::memcpy(to, state + 160 + 16 * number, 16);
      if (size > 16) std::memcpy(static_cast<uint8_t*>(to) + 16, state + 576 + 16 * number, 16);
      return true;
    };
    context_.told = [this](uint64_t, size_t) { return ++rounds_ >= most_rounds_; };
    user_fpregs_struct floats{};
    ptrace(PTRACE_GETFPREGS, processor_.id(), nullptr, &floats);
    for (unsigned i = 0; i < std::size(floats.xmm_space); ++i)
      floats.xmm_space[i] = static_cast<uint32_t>(random_());
    ptrace(PTRACE_SETFPREGS, processor_.id(), nullptr, &floats);
  }

  /// Whether it was found; if so, everything must be as the processor does it, in as many steps as there are
  /// rounds.
  bool compare(const std::vector<uint8_t>& code, uint64_t rcx = 0, uint64_t flags = 0) {
    user_regs_struct found = some_registers(processor_, random_);
    if (rcx != 0) {
      found.rcx = rcx;
      found.rsi = found.rsp + random_() % 4096;
      found.rdi = found.rsp + random_() % 4096;
      found.eflags |= flags;
    }
    user_regs_struct real = found;
    uint8_t* memory = processor_.memory();
    for (size_t i = 4096; i < kSize; i += 8) {
      uint64_t word = random_();
      std::memcpy(memory + i, &word, sizeof word);
    }
    std::memcpy(memory + 128, code.data(), code.size());
    std::vector<uint8_t> before(memory, memory + kSize);
    rounds_ = 0;
    most_rounds_ = 1 + random_() % 20;
    Store store;
    bool done = find_store(code, found, context_, store);
    EXPECT_EQ(std::memcmp(memory, before.data(), kSize), 0);
    if (!done) {
      EXPECT_EQ(std::memcmp(&found, &real, sizeof real), 0);
      return false;
    }
    uint64_t place = store.address - reinterpret_cast<uint64_t>(memory);
    if (place < 4096 || place > kSize - store.size) return false;  // where it would fault, or be the code
    for (uint64_t left = rcx == 0 ? 1 : real.rcx - found.rcx; left > 0; --left)
      EXPECT_TRUE(processor_.step(real));
    found.orig_rax = real.orig_rax;
    if (rcx != 0) real.eflags &= ~0x10000ull;  // some processors have the resume flag between two rounds
    EXPECT_EQ(std::memcmp(&found, &real, sizeof real), 0)
        << testing::PrintToString(code) << " rip " << found.rip - real.rip << " flags " << std::hex
        << (found.eflags ^ real.eflags);
    std::memcpy(before.data() + place, store.bytes.data(), store.size);
    EXPECT_EQ(std::memcmp(memory, before.data(), kSize), 0) << testing::PrintToString(code);
    return true;
  }

  std::mt19937_64 random_{11};
  Processor processor_;
  StoreContext context_;
  size_t rounds_ = 0, most_rounds_ = 1;
};

TEST_F(StoresTest, DoesAsTheProcessor) {
  const std::vector<std::vector<uint8_t>> operations = {
      {0x50},       {0x57},       {0x68},       {0x6a},       {0xe8},       {0x88},       {0x89},
      {0xc6},       {0xc7},       {0x80},       {0x81},       {0x83},       {0x00},       {0x01},
      {0x08},       {0x09},       {0x20},       {0x21},       {0x28},       {0x29},       {0x30},
      {0x31},       {0x86},       {0x87},       {0xfe},       {0xff},       {0x0f, 0x90}, {0x0f, 0x9c},
      {0x0f, 0xc0}, {0x0f, 0xc1}, {0x0f, 0xc3}, {0x0f, 0x11}, {0x0f, 0x13}, {0x0f, 0x17}, {0x0f, 0x29},
      {0x0f, 0x7e}, {0x0f, 0x7f}, {0x0f, 0xd6}, {0x0f, 0xe7}, {0xa4},       {0xa5},       {0xaa},
      {0xab}};
  const uint8_t prefixes[] = {0x66, 0xf0, 0xf2, 0xf3, 0x3e};
  int found = 0;
  for (int i = 0; i < 20000 && !HasFailure(); ++i) {
    std::vector<uint8_t> code;
    if (random_() % 3 == 0) code.push_back(prefixes[random_() % std::size(prefixes)]);
    if (random_() % 2 == 0) code.push_back(static_cast<uint8_t>(0x40 | random_() % 16));
    const std::vector<uint8_t>& operation = operations[random_() % operations.size()];
    code.insert(code.end(), operation.begin(), operation.end());
    bool repeats =
        operation.size() == 1 && (operation[0] & 0xf0) == 0xa0 && (code[0] == 0xf2 || code[0] == 0xf3);
    auto form = static_cast<uint8_t>(random_());
    if (random_() % 4 != 0) form = static_cast<uint8_t>((form & 0x3f) | 0x40);  // memory, a small distance
    code.push_back(form);
    while (code.size() < 15)
      code.push_back(static_cast<uint8_t>(random_() % 8 == 0 ? random_() : random_() % 64));
    found +=
        compare(code, repeats ? 1 + random_() % 40 : 0, repeats && random_() % 4 == 0 ? 0x400 : 0) ? 1 : 0;
  }
  EXPECT_GT(found, 4000);
}

TEST_F(StoresTest, KnowsVectors) {
  const uint8_t lasts[] = {0x78, 0x79, 0x7a, 0x7b}, operations[] = {0x11, 0x29, 0x7f, 0xe7, 0xd6, 0x7e};
  for (uint8_t last : lasts) {
    for (uint8_t operation : operations) {
      compare({0xc5, static_cast<uint8_t>(last | 0x80), operation, 0x44, 0x24, 0x20});
      compare({0xc4, 0x61, last, operation, 0x4c, 0x24, 0x40});
    }
  }
  EXPECT_TRUE(compare({0xc5, 0xfa, 0x7f, 0x44, 0x24, 0x21}));         // vmovdqu %xmm0, 33(%rsp)
  EXPECT_TRUE(compare({0xc5, 0x7e, 0x7f, 0x4c, 0x24, 0x21}));         // vmovdqu %ymm9, 33(%rsp)
  EXPECT_TRUE(compare({0x0f, 0x11, 0x44, 0x24, 0x10}));               // movups %xmm0, 16(%rsp)
  EXPECT_FALSE(compare({0x0f, 0x29, 0x44, 0x24, 0x11}));              // movaps %xmm0, 17(%rsp): it faults
  EXPECT_FALSE(compare({0x62, 0xf1, 0xfe, 0x48, 0x7f, 0x04, 0x24}));  // vmovdqu64 %zmm0, (%rsp)
}

TEST_F(StoresTest, LeavesTheRestAlone) {
  EXPECT_FALSE(compare({0xc3}));                          // ret
  EXPECT_FALSE(compare({0x48, 0x89, 0xe5}));              // mov %rsp, %rbp
  EXPECT_FALSE(compare({0x48, 0x8b, 0x06}));              // mov (%rsi), %rax
  EXPECT_FALSE(compare({0xf0, 0x0f, 0xb1, 0x0c, 0x24}));  // lock cmpxchg
  EXPECT_FALSE(compare({0x48, 0x83, 0x3c, 0x24, 0x01}));  // cmp $1, (%rsp)
  EXPECT_FALSE(compare({0x67, 0x89, 0x04, 0x24}));        // short addresses
  EXPECT_FALSE(compare({0x48, 0x83}));                    // cut off
  EXPECT_FALSE(compare({}));
}

}  // namespace
}  // namespace pastcone::replay

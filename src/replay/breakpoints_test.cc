// The stubs are run: a loop in generated code, a jump to the stub in it, and a trap where all is equal.
#include "pastcone/replay/breakpoints.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <vector>

namespace pastcone::replay {
namespace {

using stage::Breakpoint;
using stage::BreakpointState;

constexpr size_t kPage = 4096, kMiddle = sizeof(Breakpoint::code) / 2;
constexpr uint32_t kPasses = 1000;

uint64_t hit_at = 0;     // where the processor is after the stub's trap
int hits = 0;            // how often it came there
int watched = 0;         // which register to look at,
uint64_t seen = 0;       // and what was in it

void on_trap(int, siginfo_t*, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (static_cast<uint64_t>(registers[REG_RIP]) != hit_at) abort();
  ++hits;
  seen = static_cast<uint64_t>(registers[watched]);
}

class BreakpointTest : public testing::Test {
 protected:
  BreakpointTest() {
    memory_ = static_cast<uint8_t*>(mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE | PROT_EXEC,
                                         MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::memset(memory_, 0xcc, 2 * kPage);
    struct sigaction action {};
    action.sa_sigaction = on_trap;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, &before_);
    syscall(SYS_arch_prctl, 0x1001, thread_);  // ARCH_SET_GS
    hits = 0;
  }
  ~BreakpointTest() override {
    syscall(SYS_arch_prctl, 0x1001, 0);
    sigaction(SIGTRAP, &before_, nullptr);
    munmap(memory_, 2 * kPage);
  }

  size_t put(std::initializer_list<int> bytes) {
    size_t at = size_;
    for (int byte : bytes) memory_[size_++] = static_cast<uint8_t>(byte);
    return at;
  }
  /// Asks for a stub at `offset`, and puts the jump to it there if there is one.
  bool set(size_t offset) {
    Breakpoint& b = request_;
    b.rip = reinterpret_cast<uint64_t>(memory_) + offset;
    b.stub = reinterpret_cast<uint64_t>(memory_) + kPage;
    b.code_begin = static_cast<uint32_t>(kMiddle - offset);
    b.code_end = static_cast<uint32_t>(kMiddle + kPage - offset);
    std::memcpy(b.code + b.code_begin, memory_, kPage);
    b.state = static_cast<uint32_t>(BreakpointState::kWanted);
    serve_breakpoint(b);
    EXPECT_EQ(b.state, static_cast<uint32_t>(BreakpointState::kReady));
    if (b.displaced == 0) return false;
    EXPECT_GE(b.displaced, 5u);
    EXPECT_LE(b.stub_size, sizeof b.bytes);
    std::memcpy(memory_ + kPage, b.bytes, b.stub_size);
    hit_at = b.stub + b.hit + 1;
    auto distance = static_cast<int32_t>(b.stub - (b.rip - b.before + 5));
    memory_[offset - b.before] = 0xe9;
    std::memcpy(memory_ + (offset - b.before) + 1, &distance, sizeof distance);
    return true;
  }
  void run(uint64_t* word = nullptr) { reinterpret_cast<void (*)(uint64_t*)>(memory_)(word); }

  /// A loop that counts in a register, as instructions number it. Returns where a pass begins.
  size_t count_in(int number) {
    int high = number >> 3, low = number & 7;
    put({0x40 | high, 0x50 | low});                                 // push
    put({0x48 | high << 2 | high, 0x31, 0xc0 | low << 3 | low});    // xor r,r
    size_t pass = put({0x48 | high, 0xff, 0xc0 | low});             // inc r
    put({0x48 | high, 0x81, 0xf8 | low, kPasses & 0xff, kPasses >> 8, 0, 0});  // cmp $kPasses,r
    put({0x75, static_cast<uint8_t>(pass - (size_ + 2))});          // jne
    put({0x40 | high, 0x58 | low, 0xc3});                           // pop; ret
    return pass;
  }

  uint8_t* memory_;
  size_t size_ = 0;
  Breakpoint request_{};
  uint64_t thread_[16]{};  // what the runtime has at %gs
  struct sigaction before_ {};
};

// In the order of the payload of kAsync: as instructions number it, as the kernel does.
struct Register {
  int number, kernel;
};
constexpr Register kRegisters[16] = {{0, REG_RAX}, {3, REG_RBX}, {1, REG_RCX}, {2, REG_RDX},
                                     {6, REG_RSI}, {7, REG_RDI}, {5, REG_RBP}, {4, REG_RSP},
                                     {8, REG_R8},  {9, REG_R9},  {10, REG_R10}, {11, REG_R11},
                                     {12, REG_R12}, {13, REG_R13}, {14, REG_R14}, {15, REG_R15}};

class EveryRegister : public BreakpointTest, public testing::WithParamInterface<int> {};

TEST_P(EveryRegister, StopsAtTheOnePassWithItsValue) {
  int index = GetParam();
  size_t pass = count_in(kRegisters[index].number);
  watched = kRegisters[index].kernel;
  request_.compared = uint64_t{1} << index;
  request_.registers[index] = 777;
  ASSERT_TRUE(set(pass));
  run();
  EXPECT_EQ(hits, 1);
  EXPECT_EQ(seen, 777u);
}

INSTANTIATE_TEST_SUITE_P(Breakpoints, EveryRegister, testing::Values(0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 14, 15));

TEST_F(BreakpointTest, AllConditionsMustHold) {
  size_t pass = count_in(0);
  watched = REG_RAX;
  request_.compared = 1 | 1 << 5;  // rax, and rdi, which is the argument
  uint64_t word = 5;
  request_.registers[0] = 10;
  request_.registers[5] = reinterpret_cast<uint64_t>(&word);
  request_.words[0] = {reinterpret_cast<uint64_t>(&word), 5};
  request_.word_count = 1;
  ASSERT_TRUE(set(pass));
  run(&word);
  EXPECT_EQ(hits, 1);
  word = 6;
  run(&word);
  EXPECT_EQ(hits, 1);
  word = 5;
  uint64_t other = 5;
  run(&other);
  EXPECT_EQ(hits, 1);
}

TEST_F(BreakpointTest, MemoryCanTellThePass) {
  size_t pass = put({0x48, 0xff, 0x07});                                   // inc (%rdi)
  put({0x48, 0x81, 0x3f, kPasses & 0xff, kPasses >> 8, 0, 0});             // cmp $kPasses,(%rdi)
  put({0x75, static_cast<uint8_t>(pass - (size_ + 2)), 0xc3});             // jne; ret
  uint64_t word = 0;
  request_.words[0] = {reinterpret_cast<uint64_t>(&word), 123};
  request_.word_count = 1;
  ASSERT_TRUE(set(pass));
  run(&word);
  EXPECT_EQ(hits, 1);
  EXPECT_EQ(word, kPasses);
}

TEST_F(BreakpointTest, TheLastOfAllWordsCounts) {
  size_t pass = put({0x48, 0xff, 0x07});                                   // inc (%rdi)
  put({0x48, 0x81, 0x3f, kPasses & 0xff, kPasses >> 8, 0, 0});             // cmp $kPasses,(%rdi)
  put({0x75, static_cast<uint8_t>(pass - (size_ + 2)), 0xc3});             // jne; ret
  uint64_t words[std::size(Breakpoint{}.words)] = {};
  for (uint64_t& word : words) request_.words[request_.word_count++] = {reinterpret_cast<uint64_t>(&word), 0};
  request_.words[std::size(words) - 1].value = 123;
  request_.compared = 1 << 5;  // rdi, the argument
  request_.registers[5] = reinterpret_cast<uint64_t>(&words[std::size(words) - 1]);
  watched = REG_RDI;
  ASSERT_TRUE(set(pass));
  run(&words[std::size(words) - 1]);
  EXPECT_EQ(hits, 1);
  EXPECT_EQ(seen, request_.registers[5]);
}

TEST_F(BreakpointTest, AllRegistersFitBesideAllWords) {
  size_t pass = count_in(0);
  uint64_t word = 0;
  while (request_.word_count < std::size(request_.words)) request_.words[request_.word_count++] = {reinterpret_cast<uint64_t>(&word), 0};
  request_.compared = 0xffff;
  EXPECT_TRUE(set(pass));
}

/// What comes behind the branch is jumped to: a jump there would be in the way.
TEST_F(BreakpointTest, WhereThereIsNoRoomTheComparisonBeforeHasSome) {
  for (int i = 0; i < 40; ++i) put({0x90});                                // nop: enough to see where instructions begin
  put({0x31, 0xc0, 0x48, 0x85, 0xff, 0x74, 9});                            // xor %eax,%eax; test %rdi,%rdi; je the end
  size_t pass = put({0x48, 0xff, 0xc0});                                   // inc %rax
  size_t compares = put({0x48, 0x39, 0xf8});                               // cmp %rdi,%rax
  size_t branch = put({0x75, static_cast<uint8_t>(pass - (size_ + 2))});   // jne
  put({0x90, 0xc3});                                                       // nop; the end: ret
  watched = REG_RAX;
  request_.compared = 1;
  request_.registers[0] = 31;
  ASSERT_TRUE(set(branch));
  EXPECT_EQ(request_.before, branch - compares);
  run(reinterpret_cast<uint64_t*>(uint64_t{kPasses}));
  EXPECT_EQ(hits, 1);
  EXPECT_EQ(seen, 31u);
}

TEST_F(BreakpointTest, OtherInstructionsBeforeHaveNone) {
  for (int i = 0; i < 40; ++i) put({0x90});
  put({0x31, 0xc0, 0x48, 0x85, 0xff, 0x74, 6});                            // xor %eax,%eax; test %rdi,%rdi; je the end
  size_t pass = put({0x48, 0xff, 0xcf});                                   // dec %rdi
  size_t branch = put({0x75, static_cast<uint8_t>(pass - (size_ + 2))});   // jne
  put({0x90, 0xc3});                                                       // nop; the end: ret
  request_.compared = 1 << 5;
  EXPECT_FALSE(set(branch));
}

TEST_F(BreakpointTest, FlagsAreLeftAlone) {
  put({0x31, 0xc0});                                                       // xor %eax,%eax
  size_t pass = put({0x48, 0xff, 0xc0});                                   // inc %rax
  put({0x48, 0x3d, kPasses & 0xff, kPasses >> 8, 0, 0});                   // cmp $kPasses,%rax
  size_t branch = put({0x75, static_cast<uint8_t>(pass - (size_ + 2))});   // jne: what is displaced
  put({0x48, 0x89, 0x07, 0xc3});                                           // mov %rax,(%rdi); ret
  watched = REG_RAX;
  request_.compared = 1;
  request_.registers[0] = 31;
  ASSERT_TRUE(set(branch));
  uint64_t word = 0;
  run(&word);
  EXPECT_EQ(hits, 1);
  EXPECT_EQ(word, kPasses);
}

TEST_F(BreakpointTest, NothingIsDisplacedThatSomebodyJumpsInto) {
  put({0x31, 0xc0, 0x90, 0x90, 0x90});                                     // xor; nops
  size_t inside = put({0x48, 0xff, 0xc0});                                 // inc %rax
  put({0x48, 0x3d, kPasses & 0xff, kPasses >> 8, 0, 0});                   // cmp
  put({0x75, static_cast<uint8_t>(inside - (size_ + 2)), 0xc3});           // jne to the inc
  request_.compared = 1;
  EXPECT_FALSE(set(inside - 3));
  request_.registers[0] = 4;
  EXPECT_TRUE(set(inside));
}

TEST_F(BreakpointTest, WhoIsInsideGoesOnInTheStub) {
  put({0x31, 0xc0});                                                       // xor %eax,%eax
  size_t pass = put({0x48, 0xff, 0xc0});                                   // inc %rax
  size_t second = put({0x48, 0x3d, kPasses & 0xff, kPasses >> 8, 0, 0});   // cmp $kPasses,%rax: displaced, too
  put({0x75, static_cast<uint8_t>(pass - (size_ + 2)), 0xc3});             // jne; ret
  request_.compared = 1;
  request_.registers[0] = 4;
  request_.from = reinterpret_cast<uint64_t>(memory_) + second;
  std::vector<uint8_t> code(memory_ + second, memory_ + second + 6);
  ASSERT_TRUE(set(pass));
  ASSERT_NE(request_.resume, 0u);
  const uint8_t* copy = memory_ + kPage + request_.resume;
  EXPECT_EQ(std::vector<uint8_t>(copy, copy + 6), code);
  request_.from = reinterpret_cast<uint64_t>(memory_);
  memory_[pass] = 0x48, memory_[pass + 1] = 0xff, memory_[pass + 2] = 0xc0;
  std::memcpy(memory_ + second, code.data(), code.size());
  ASSERT_TRUE(set(pass));
  EXPECT_EQ(request_.resume, 0u);
}

TEST_F(BreakpointTest, WhatCannotBeDoneIsSaid) {
  size_t pass = count_in(0);
  EXPECT_FALSE(set(pass));  // nothing to compare
  request_.compared = 1;
  request_.code_end = sizeof request_.code + 1;
  request_.state = static_cast<uint32_t>(BreakpointState::kWanted);
  serve_breakpoint(request_);
  EXPECT_EQ(request_.displaced, 0u);
  EXPECT_FALSE(set(kPage - 2));  // only traps there
  size_t call = put({0xe8, 0, 0, 0, 0, 0xc3});
  EXPECT_FALSE(set(call));
}

TEST_F(BreakpointTest, NobodyAskedNothingHappens) {
  request_.state = static_cast<uint32_t>(BreakpointState::kFree);
  serve_breakpoint(request_);
  EXPECT_EQ(request_.state, static_cast<uint32_t>(BreakpointState::kFree));
}

}  // namespace
}  // namespace pastcone::replay

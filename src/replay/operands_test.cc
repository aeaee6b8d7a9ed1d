#include "pastcone/replay/operands.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pastcone::replay {
namespace {

using Memory = Operands::Memory;

user_regs_struct some() {
  user_regs_struct r{};
  r.rax = 0x1000, r.rbx = 0x2000, r.rcx = 3, r.rdx = 0, r.rsp = 0x7000, r.rbp = 0x7100, r.rsi = 0x5000,
  r.rdi = 0x6000;
  r.r12 = 0xc000, r.r13 = 0xd000, r.rip = 0x400000, r.fs_base = 0x100000;
  return r;
}

Operands of(std::vector<uint8_t> code) { return operands_of(code, some()); }

TEST(Operands, InMemory) {
  EXPECT_EQ(of({0x8b, 0x00}).memory, (std::vector<Memory>{{0x1000, 4}}));              // mov (%rax),%eax
  EXPECT_EQ(of({0x48, 0x8b, 0x45, 0xf8}).memory, (std::vector<Memory>{{0x70f8, 8}}));  // mov -8(%rbp),%rax
  EXPECT_EQ(of({0x88, 0x4b, 0x10}).memory, (std::vector<Memory>{{0x2010, 1}}));        // mov %cl,16(%rbx)
  EXPECT_EQ(of({0x8b, 0x44, 0x8b, 0x08}).memory,
            (std::vector<Memory>{{0x2014, 4}}));  // mov 8(%rbx,%rcx,4),%eax
  EXPECT_EQ(of({0x41, 0x8b, 0x04, 0x24}).memory, (std::vector<Memory>{{0xc000, 4}}));  // mov (%r12),%eax
  EXPECT_EQ(of({0x41, 0x8b, 0x45, 0x00}).memory, (std::vector<Memory>{{0xd000, 4}}));  // mov 0(%r13),%eax
  EXPECT_EQ(of({0x0f, 0xb6, 0x00}).memory, (std::vector<Memory>{{0x1000, 1}}));        // movzbl (%rax),%eax
  EXPECT_EQ(of({0xf2, 0x0f, 0x10, 0x00}).memory, (std::vector<Memory>{{0x1000, 8}}));  // movsd (%rax),%xmm0
  EXPECT_EQ(of({0x66, 0xc7, 0x00, 0x01, 0x00}).memory, (std::vector<Memory>{{0x1000, 2}}));  // movw $1,(%rax)
}

TEST(Operands, RelativeToTheNextInstruction) {
  EXPECT_EQ(of({0x8b, 0x05, 0x10, 0, 0, 0}).memory, (std::vector<Memory>{{0x400016, 4}}));
  EXPECT_EQ(of({0xc7, 0x05, 0x10, 0, 0, 0, 1, 0, 0, 0}).memory, (std::vector<Memory>{{0x40001a, 4}}));
  EXPECT_EQ(of({0x83, 0x3d, 0x10, 0, 0, 0, 1}).memory, (std::vector<Memory>{{0x400017, 4}}));
  EXPECT_EQ(of({0xf6, 0x05, 0x10, 0, 0, 0, 1}).memory, (std::vector<Memory>{{0x400017, 1}}));
}

TEST(Operands, Segments) {
  EXPECT_EQ(of({0x64, 0x8b, 0x04, 0x25, 0xfc, 0xff, 0xff, 0xff}).memory,
            (std::vector<Memory>{{0xffffc, 4}}));  // mov %fs:-4,%eax
}

TEST(Operands, NotInMemory) {
  EXPECT_TRUE(of({0x89, 0xc8}).memory.empty());              // mov %ecx,%eax
  EXPECT_TRUE(of({0x48, 0x8d, 0x45, 0xf8}).memory.empty());  // lea
  EXPECT_TRUE(of({0x0f, 0x1f, 0x00}).memory.empty());        // nop
  EXPECT_TRUE(of({0x75, 0x10}).memory.empty());
  EXPECT_TRUE(of({0xc5, 0xf8, 0x77}).memory.empty());  // vzeroupper
  EXPECT_TRUE(of({0x66, 0x90}).memory.empty());
}

TEST(Operands, Implied) {
  EXPECT_EQ(of({0x55}).memory, (std::vector<Memory>{{0x6ff8, 16}}));  // push
  EXPECT_EQ(of({0xf3, 0xa6}).memory, (std::vector<Memory>{{0x5000, 1}, {0x6000, 1}}));
  EXPECT_EQ(of({0x48, 0xab}).memory, (std::vector<Memory>{{0x6000, 8}}));
}

TEST(Operands, Vectors) {
  EXPECT_EQ(of({0xc5, 0xfe, 0x6f, 0x07}).memory,
            (std::vector<Memory>{{0x6000, 32}}));  // vmovdqu (%rdi),%ymm0
  EXPECT_EQ(of({0xc4, 0xc1, 0x7a, 0x6f, 0x04, 0x24}).memory,
            (std::vector<Memory>{{0xc000, 16}}));                    // (%r12), %xmm0
  Operands scaled = of({0x62, 0xf1, 0xfe, 0x28, 0x6f, 0x47, 0x01});  // vmovdqu64 32(%rdi),%ymm0
  EXPECT_NE(std::find(scaled.memory.begin(), scaled.memory.end(), Memory{0x6020, 64}), scaled.memory.end());
  EXPECT_FALSE(of({0xc4, 0xe2, 0x75, 0x90, 0x04, 0x87}).known);  // a gather
  for (const auto& masked : {of({0x66, 0x0f, 0xf7, 0xc1}), of({0xc5, 0xf9, 0xf7, 0xc1})})  // maskmovdqu
    EXPECT_EQ(masked.memory, (std::vector<Memory>{{0x6000, 16}}));
}

TEST(Operands, WaysOut) {
  EXPECT_TRUE(of({0x0f, 0x05}).leaves);
  EXPECT_TRUE(of({0xcc}).leaves);
  EXPECT_TRUE(of({0x0f, 0x0b}).leaves);
  EXPECT_FALSE(of({0xe8, 0, 0, 0, 0}).leaves);
  Operands divides = of({0xf7, 0xfa});  // idiv %edx
  EXPECT_TRUE(divides.divides);
  EXPECT_EQ(divides.divisor, 0u);
  EXPECT_EQ(of({0xf7, 0xf9}).divisor, 3u);
  EXPECT_FALSE(of({0xf7, 0xe1}).divides);  // mul
}

TEST(Operands, CutOff) { EXPECT_FALSE(of({0x48, 0x8b}).known); }

}  // namespace
}  // namespace pastcone::replay

// Each instruction that is done by a copy, in all its encodings, does what the processor does in the process.
#include <elf.h>
#include <gtest/gtest.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <random>
#include <vector>

#include "pastcone/replay/emulate.h"
#include "pastcone/replay/testing/processor.h"
#include "pastcone/replay/vector_state.h"

namespace pastcone::replay {
namespace {

constexpr uint32_t kQuiet = 0x1f80;
constexpr size_t kControl = 24, kVectors = 160, kHeader = 512, kBehindHeader = 576;

class EmulateCopiedTest : public testing::Test {
 protected:
  using State = std::vector<uint8_t>;

  State state() const {
    State all(16 << 10);
    iovec into{all.data(), all.size()};
    EXPECT_EQ(ptrace(PTRACE_GETREGSET, processor_.id(), NT_X86_XSTATE, &into), 0);
    all.resize(into.iov_len);
    return all;
  }

  void set_state(State all) const {
    iovec from{all.data(), all.size()};
    ASSERT_EQ(ptrace(PTRACE_SETREGSET, processor_.id(), NT_X86_XSTATE, &from), 0);
  }

  /// What numbers of all kinds look like.
  uint64_t some_number() {
    const double doubles[] = {0.0, -0.0, 1.0, -1.5, 1e300, -1e-300, 5e-324, 2147483648.5, -9.3e18, 0.1};
    const float floats[] = {0.0f, -0.0f, 1.0f, -2.5f, 1e38f, 1e-40f, 3e9f, 0.1f};
    const uint64_t odd[] = {0x7ff0000000000000,
                            0xfff0000000000000,
                            0x7ff8000000000001,
                            0x7ff0000000000001,
                            0x7f8000007f800001,
                            0xffc00000ff800000,
                            0,
                            UINT64_MAX};
    uint64_t number = random_();
    uint32_t pair[2];
    switch (random_() % 6) {
      case 0:
        std::memcpy(&number, &doubles[random_() % std::size(doubles)], sizeof number);
        break;
      case 1:
        for (uint32_t& one : pair) std::memcpy(&one, &floats[random_() % std::size(floats)], sizeof one);
        std::memcpy(&number, pair, sizeof number);
        break;
      case 2:
        number = odd[random_() % std::size(odd)];
        break;
      case 3:
        number %= 1000;
        break;
      default:
        break;
    }
    return number;
  }

  void fill(uint8_t* at, size_t size) {
    for (size_t i = 0; i + 8 <= size; i += 8) {
      uint64_t number = some_number();
      std::memcpy(at + i, &number, sizeof number);
    }
  }

  /// All vector registers hold something, and exceptions, roundings and denormals are treated in any way.
  State some_state(bool quiet = true) {
    State all = start_;
    fill(all.data() + kVectors, 256);
    uint64_t present = 0;
    std::memcpy(&present, all.data() + 464, sizeof present);
    present &= 0xe7;
    std::memcpy(all.data() + kHeader, &present, sizeof present);
    fill(all.data() + kBehindHeader, 256);  // ymm
    if ((present & 0x80) != 0) fill(all.data() + zmm_, 512 + 1024);
    uint32_t control = kQuiet | (random_() & 0xe07f);  // flags, denormals, rounding
    if (!quiet) control &= ~uint32_t{0x80};
    std::memcpy(all.data() + kControl, &control, sizeof control);
    return all;
  }

  static State vectors_of(const State& state) {
    State all(state.begin() + kControl, state.begin() + kControl + 4);
    all.insert(all.end(), state.begin() + kVectors, state.begin() + kVectors + 256);
    all.insert(all.end(), state.begin() + kBehindHeader, state.end());
    return all;
  }

  enum class Did { kEmulated, kLeft, kFaults };

  /// If it was emulated, everything must be as the processor does it. `near_end`: rsi is so far from where
  /// memory ends.
  Did compare(const std::vector<uint8_t>& code, size_t near_end = 0, uint64_t meaningless_flags = 0) {
    user_regs_struct emulated = some_registers(processor_, random_);
    emulated.fs_base = reinterpret_cast<uint64_t>(processor_.memory()) + 512;
    if (near_end != 0) emulated.rsi = reinterpret_cast<uint64_t>(processor_.memory()) + kSize - near_end;
    user_regs_struct real = emulated;
    uint8_t* memory = processor_.memory();
    std::memcpy(memory + 128, code.data(), code.size());
    std::vector<uint8_t> before(memory, memory + kSize);
    State start = some_state();
    set_state(start);
    start = state();
    bool done = false;
    {
      VectorState vectors(processor_.id());
      EmulationBounds bounds{processor_.id(), true, false, true};
      bounds.vectors = &vectors;
      SharedMemory shared(memory);
      bounds.memory = &shared;
      done = emulate(code, emulated, bounds);
    }
    State got = state();
    std::vector<uint8_t> then(memory, memory + kSize);
    std::memcpy(memory, before.data(), kSize);
    auto what = [&] { return testing::PrintToString(code); };
    if (!done) {
      EXPECT_EQ(std::memcmp(&emulated, &real, sizeof real), 0) << what();
      EXPECT_EQ(then, before) << what();
      EXPECT_EQ(vectors_of(got), vectors_of(start)) << what();
    }
    set_state(start);
    bool steps = processor_.step(real);
    if (!done) return steps ? Did::kLeft : Did::kFaults;
    EXPECT_TRUE(steps) << what();
    emulated.orig_rax = real.orig_rax;
    emulated.eflags = (emulated.eflags & ~meaningless_flags) | (real.eflags & meaningless_flags);
    EXPECT_EQ(std::memcmp(&emulated, &real, sizeof real), 0)
        << what() << " rip " << emulated.rip - real.rip << " flags " << std::hex
        << (emulated.eflags ^ real.eflags);
    EXPECT_EQ(std::memcmp(memory, then.data(), kSize), 0) << what();
    EXPECT_EQ(vectors_of(got), vectors_of(state())) << what();
    return Did::kEmulated;
  }

  void SetUp() override {
    fill(processor_.memory() + 4096, kSize - 4096);
    start_ = state();
    uint32_t size = 0, ignored = 0, index = 6;
    uint32_t function = 13;
    asm volatile("cpuid" : "+a"(function), "=b"(size), "+c"(index), "=d"(ignored));
    zmm_ = size;
    function = 13, index = 7;
    asm volatile("cpuid" : "+a"(function), "=b"(size), "+c"(index), "=d"(ignored));
    // The upper halves of zmm0 and on lie before zmm16 and on, so that both are one piece.
    if (start_.size() > kBehindHeader + 256 && zmm_ != 0) {
      EXPECT_EQ(size, zmm_ + 512);
    }
  }

  uint8_t byte() { return static_cast<uint8_t>(random_()); }

  /// A ModRM byte and what may follow.
  void add_operands(std::vector<uint8_t>& code) {
    uint8_t form = byte();
    if (form < 0xc0 && random_() % 4 != 0) form = static_cast<uint8_t>((form & 0x3f) | 0x40);
    code.push_back(form);
    while (code.size() < 15)
      code.push_back(static_cast<uint8_t>(random_() % 8 == 0 ? random_() : random_() % 8 * 16));
  }

  std::mt19937_64 random_{11};
  Processor processor_;
  State start_;
  size_t zmm_ = 0;
};

TEST_F(EmulateCopiedTest, DoesVectorsOfTheOldEncoding) {
  int emulated = 0;
  for (int i = 0; i < 16000 && !HasFailure(); ++i) {
    std::vector<uint8_t> code;
    const uint8_t prefixes[] = {0x66, 0xf2, 0xf3};
    if (random_() % 4 != 0) code.push_back(prefixes[random_() % 3]);
    if (random_() % 2 == 0) code.push_back(static_cast<uint8_t>(0x40 | random_() % 16));
    code.push_back(0x0f);
    auto map = static_cast<unsigned>(random_() % 16);
    if (map < 2) code.push_back(map == 0 ? 0x38 : 0x3a);
    const uint8_t likely[] = {0x10, 0x11, 0x12, 0x13, 0x14, 0x16, 0x17, 0x28, 0x29, 0x2a,
                              0x2c, 0x2d, 0x2e, 0x2f, 0x50, 0x51, 0x54, 0x57, 0x58, 0x59,
                              0x5a, 0x5b, 0x5c, 0x5d, 0x5e, 0x5f, 0x6e, 0x6f, 0x70, 0x71,
                              0x72, 0x73, 0x7e, 0x7f, 0xc2, 0xc6, 0xd6, 0xd7, 0xe6, 0xef};
    uint8_t operation = map < 2 || random_() % 2 == 0 ? byte() : likely[random_() % std::size(likely)];
    if (map >= 2 && (operation & 0xf0) == 0x80) continue;  // jumps
    // System calls, and what else leads away or waits.
    if (map >= 2 && (operation < 0x10 || (operation & 0xf0) == 0x30 || operation == 0xa2)) continue;
    code.push_back(operation);
    add_operands(code);
    emulated += compare(code) == Did::kEmulated ? 1 : 0;
  }
  EXPECT_GT(emulated, 2000);
}

TEST_F(EmulateCopiedTest, DoesVectorsOfTheNewerEncodings) {
  if (!__builtin_cpu_supports("avx2")) GTEST_SKIP() << "the processor has no AVX2";
  int emulated = 0;
  for (int i = 0; i < 16000 && !HasFailure(); ++i) {
    std::vector<uint8_t> code;
    auto kind = static_cast<unsigned>(random_() % 3);
    auto third = static_cast<unsigned>(random_() % 2 == 0 ? 0x78 : random_() & 0x78);
    auto map = static_cast<unsigned>(random_() % 8 == 0 ? 1 + random_() % 3 : 1);
    if (kind == 0) {
      code = {0xc5, static_cast<uint8_t>((random_() & 0x87) | third)};
    } else if (kind == 1) {
      code = {0xc4, static_cast<uint8_t>((random_() & 0xe0) | map),
              static_cast<uint8_t>((random_() & 0x87) | third)};
    } else {
      auto masks = static_cast<unsigned>(random_() % 4 == 0 ? random_() & 7 : 0);
      auto rare = static_cast<unsigned>(random_() % 8 == 0 ? random_() & 0x97 : masks);
      code = {0x62, static_cast<uint8_t>((random_() & 0xf0) | map),
              static_cast<uint8_t>((random_() & 0x83) | third | 4),
              static_cast<uint8_t>((random_() & 0x60) | 8 | rare)};
    }
    const uint8_t likely[] = {0x10, 0x11, 0x28, 0x29, 0x6f, 0x7f, 0x6e, 0x7e, 0xd6, 0xd7, 0x2a, 0x2c,
                              0x2e, 0x77, 0x58, 0x78, 0x79, 0x7a, 0x7b, 0x7c, 0x92, 0x93, 0x98, 0x99,
                              0x25, 0x26, 0x27, 0x3e, 0x3f, 0x74, 0x75, 0x76, 0xda, 0xdb, 0xeb, 0xef};
    code.push_back(random_() % 2 == 0 ? byte() : likely[random_() % std::size(likely)]);
    add_operands(code);
    emulated += compare(code) == Did::kEmulated ? 1 : 0;
  }
  EXPECT_GT(emulated, 700);
}

TEST_F(EmulateCopiedTest, DoesGeneralRegisters) {
  constexpr uint64_t kOverflow = 0x800, kAuxiliary = 0x10;
  const uint8_t ones[] = {0x80, 0x81, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b, 0xc0,
                          0xc1, 0xd0, 0xd1, 0xd2, 0xd3, 0xc6, 0xc7, 0xf6, 0xf7, 0xfe, 0xff};
  const uint8_t twos[] = {0xa3, 0xab, 0xb3, 0xbb, 0xba, 0xa4, 0xa5, 0xac, 0xad, 0xaf, 0xb0,
                          0xb1, 0xc0, 0xc1, 0xb6, 0xb7, 0xb8, 0xbc, 0xbd, 0xbe, 0xbf};
  int emulated = 0;
  for (int i = 0; i < 16000 && !HasFailure(); ++i) {
    std::vector<uint8_t> code;
    if (random_() % 8 == 0) code.push_back(0x64);
    if (random_() % 8 == 0) code.push_back(0xf0);
    if (random_() % 2 == 0) code.push_back(random_() % 4 == 0 ? 0xf3 : 0x66);
    if (random_() % 2 == 0) code.push_back(static_cast<uint8_t>(0x40 | random_() % 16));
    bool two = random_() % 2 == 0, shifts = false;
    if (two) {
      code.push_back(0x0f);
      code.push_back(random_() % 8 == 0 ? static_cast<uint8_t>(0x40 | random_() % 16)
                                        : twos[random_() % std::size(twos)]);
    } else if (random_() % 2 == 0) {
      code.push_back(static_cast<uint8_t>(random_() % 8 * 8 + random_() % 4));
    } else {
      code.push_back(ones[random_() % std::size(ones)]);
    }
    shifts = two ? code.back() >= 0xa4 && code.back() <= 0xbd
                 : (code.back() & 0xee) == 0xc0 || code.back() >= 0xd0;
    if (code.back() == 0xff) {
      code.push_back(static_cast<uint8_t>(byte() & ~0x30));  // no jumps to anywhere
      while (code.size() < 15) code.push_back(static_cast<uint8_t>(random_() % 64));
    } else {
      add_operands(code);
    }
    emulated += compare(code, 0, shifts ? kOverflow | kAuxiliary : 0) == Did::kEmulated ? 1 : 0;
  }
  EXPECT_GT(emulated, 3500);
}

TEST_F(EmulateCopiedTest, DoesBits) {
  if (!__builtin_cpu_supports("bmi2")) GTEST_SKIP() << "the processor has no BMI2";
  int emulated = 0;
  for (int i = 0; i < 8000 && !HasFailure(); ++i) {
    auto map = static_cast<unsigned>(random_() % 8 == 0 ? 3 : 2);
    auto rare = static_cast<unsigned>(random_() % 16 == 0 ? 4 : 0);
    auto third = static_cast<unsigned>(map == 3 || random_() % 8 == 0 ? 0x78 : random_() & 0x78);
    const uint8_t operations[] = {0xf2, 0xf3, 0xf5, 0xf6, 0xf7};
    std::vector<uint8_t> code = {0xc4, static_cast<uint8_t>((random_() & 0xe0) | map),
                                 static_cast<uint8_t>((random_() & 0x83) | third | rare),
                                 map == 3 ? uint8_t{0xf0} : operations[random_() % std::size(operations)]};
    add_operands(code);
    emulated += compare(code) == Did::kEmulated ? 1 : 0;
  }
  EXPECT_GT(emulated, 1000);
}

/// No more memory is read or written than there has to be.
TEST_F(EmulateCopiedTest, TouchesNoMoreThanTheProcessor) {
  struct Case {
    std::vector<uint8_t> code;
    size_t size;
  };
  const Case cases[] = {
      {{0xf2, 0x0f, 0x10, 0x06}, 8},           // movsd (%rsi), %xmm0
      {{0xf3, 0x0f, 0x11, 0x06}, 4},           // movss %xmm0, (%rsi)
      {{0xf2, 0x0f, 0x58, 0x06}, 8},           // addsd
      {{0xf3, 0x0f, 0x5a, 0x06}, 4},           // cvtss2sd
      {{0x0f, 0x5a, 0x06}, 8},                 // cvtps2pd
      {{0xf2, 0x0f, 0x2a, 0x06}, 4},           // cvtsi2sdl
      {{0xf2, 0x48, 0x0f, 0x2a, 0x06}, 8},     // cvtsi2sdq
      {{0x66, 0x0f, 0x2f, 0x06}, 8},           // comisd
      {{0x0f, 0x2e, 0x06}, 4},                 // ucomiss
      {{0x0f, 0x10, 0x06}, 16},                // movups
      {{0x66, 0x0f, 0x7f, 0x06}, 16},          // movdqa to memory
      {{0x66, 0x0f, 0x6e, 0x06}, 4},           // movd
      {{0xf3, 0x0f, 0x7e, 0x06}, 8},           // movq
      {{0x66, 0x0f, 0xd6, 0x06}, 8},           // movq to memory
      {{0x66, 0x0f, 0x16, 0x06}, 8},           // movhpd
      {{0x66, 0x0f, 0x3a, 0x0b, 0x06, 4}, 8},  // roundsd
      {{0x66, 0x89, 0x06}, 2},                 // mov %ax, (%rsi)
      {{0x66, 0xc7, 0x06, 1, 2}, 2},           // movw
  };
  for (const Case& one : cases) {
    EXPECT_EQ(compare(one.code, one.size), Did::kEmulated) << testing::PrintToString(one.code);
    EXPECT_NE(compare(one.code, one.size - 1), Did::kEmulated) << testing::PrintToString(one.code);
  }
}

TEST_F(EmulateCopiedTest, LeavesTheRestAlone) {
  EXPECT_NE(compare({0xf0, 0x89, 0x06}), Did::kEmulated);               // lock mov
  EXPECT_NE(compare({0xf0, 0x01, 0xc0}), Did::kEmulated);               // lock, of a register
  EXPECT_NE(compare({0xf3, 0x48, 0xab}), Did::kEmulated);               // rep stos
  EXPECT_NE(compare({0x0f, 0x6f, 0xc1}), Did::kEmulated);               // mmx
  EXPECT_NE(compare({0xdd, 0x06}), Did::kEmulated);                     // x87
  EXPECT_NE(compare({0x66, 0x0f, 0x28, 0x46, 1}, 32), Did::kEmulated);  // not aligned
  EXPECT_NE(compare({0xf2, 0x0f, 0x10}), Did::kEmulated);               // cut off
  user_regs_struct registers = some_registers(processor_, random_);
  const std::vector<uint8_t> add = {0xf2, 0x0f, 0x58, 0xc1};
  EmulationBounds bounds{processor_.id(), true, false, true};
  EXPECT_FALSE(emulate(add, registers, bounds));  // of no vectors
  set_state(some_state(false));                   // a signal may follow
  VectorState vectors(processor_.id());
  bounds.vectors = &vectors;
  EXPECT_FALSE(emulate(add, registers, bounds));
}

}  // namespace
}  // namespace pastcone::replay

// The C library's own code, as another decoder understands it.
#include "operand.h"

#include <Zydis/Zydis.h>
#include <gtest/gtest.h>
#include <link.h>

#include <random>
#include <string>
#include <string_view>

namespace pastcone::runtime {
namespace {

struct Code {
  const u8* begin = nullptr;
  u64 size = 0;
};

Code code_of_libc() {
  Code code;
  auto look = [](dl_phdr_info* info, size_t, void* result) {
    if (std::string_view(info->dlpi_name).find("libc.so") == std::string_view::npos) return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const auto& segment = info->dlpi_phdr[i];
      if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
      *static_cast<Code*>(result) = {reinterpret_cast<const u8*>(info->dlpi_addr + segment.p_vaddr), segment.p_memsz};
    }
    return 1;
  };
  dl_iterate_phdr(look, &code);
  return code;
}

/// What the instruction reads or writes, if it says so itself; nullptr for lea, nop, push and the like.
const ZydisDecodedOperand* explicit_operand(const ZydisDecodedInstruction& instruction,
                                            const ZydisDecodedOperand* operands) {
  for (int i = 0; i < instruction.operand_count; ++i) {
    const auto& operand = operands[i];
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
        operand.mem.type == ZYDIS_MEMOP_TYPE_MEM && operand.mem.segment != ZYDIS_REGISTER_GS)
      return &operand;
  }
  return nullptr;
}

class Operand : public testing::Test {
 protected:
  Operand() {
    std::mt19937_64 random(1);
    for (int i = 0; i < 16; ++i) context_.values[ZYDIS_REGISTER_RAX + i] = machine_.general[i] = random();
    machine_.fs = random();
  }
  void set_code(const u8* bytes) { __builtin_memcpy(machine_.code, bytes, sizeof machine_.code); }
  u64 expected(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand& operand) const {
    ZyanU64 address = 0;
    EXPECT_TRUE(ZYAN_SUCCESS(ZydisCalcAbsoluteAddressEx(&instruction, &operand, machine_.rip, &context_, &address)));
    return address + (operand.mem.segment == ZYDIS_REGISTER_FS ? machine_.fs : 0);
  }

  Machine machine_{};
  ZydisRegisterContext context_{};
};

TEST_F(Operand, IsWhereAnotherDecoderFindsIt) {
  Code code = code_of_libc();
  ASSERT_GT(code.size, 100'000u);
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  u64 compared = 0, missed = 0, wrong = 0;
  std::string example;
  for (u64 at = 0; at + 32 < code.size;) {
    ZydisDecodedInstruction instruction;
    ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
    if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code.begin + at, 15, &instruction, operands))) {
      ++at;
      continue;
    }
    const u8* bytes = code.begin + at;
    set_code(bytes);
    machine_.rip = reinterpret_cast<u64>(bytes);
    at += instruction.length;
    const ZydisDecodedOperand* operand = explicit_operand(instruction, operands);
    bool plain = instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY ||
                 instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_VEX;
    if (operand == nullptr || !plain || instruction.meta.category == ZYDIS_CATEGORY_NOP ||
        instruction.meta.category == ZYDIS_CATEGORY_WIDENOP || instruction.meta.category == ZYDIS_CATEGORY_PREFETCH)
      continue;
    ++compared;
    u64 address = 0;
    bool found = memory_operand(machine_, address), same = found && address == expected(instruction, *operand);
    if (same) continue;
    ++(found ? wrong : missed);
    if (!example.empty()) continue;
    for (int i = 0; i < instruction.length; ++i) example += std::to_string(bytes[i]) + " ";
    example += ZydisMnemonicGetString(instruction.mnemonic);
  }
  EXPECT_GT(compared, 50'000u);
  EXPECT_EQ(wrong, 0u) << example;
  EXPECT_LT(missed * 100, compared) << example;  // what is missed only makes the survey coarser
}

TEST_F(Operand, IsNoneWhereThereIsNone) {
  for (const char* bytes : {"\x48\x89\xd8", "\x48\x8d\x04\x0b", "\x90", "\x0f\x1f\x44\x00\x00", "\xc3", "\x0f\x18\x00", "\x65\x8b\x00"}) {
    u8 code[16] = {};
    __builtin_strcpy(reinterpret_cast<char*>(code), bytes);
    set_code(code);
    u64 address = 0;
    EXPECT_FALSE(memory_operand(machine_, address)) << int(code[0]) << " " << int(code[1]);
  }
}

TEST(RepeatedLength, IsThatOfStringInstructionsWithAPrefix) {
  const u8 movs[] = {0xf3, 0x48, 0xa5, 0}, scas[] = {0xf2, 0xae, 0, 0}, single[] = {0xa4, 0, 0, 0}, pause[] = {0xf3, 0x90, 0, 0};
  EXPECT_EQ(repeated_length(movs), 3u);
  EXPECT_EQ(repeated_length(scas), 2u);
  EXPECT_EQ(repeated_length(single), 0u);
  EXPECT_EQ(repeated_length(pause), 0u);
}

TEST(Pushf, IsKnown) {
  const u8 wide[] = {0x9c, 0}, narrow[] = {0x66, 0x9c}, popf[] = {0x9d, 0};
  EXPECT_TRUE(is_pushf(wide));
  EXPECT_TRUE(is_pushf(narrow));
  EXPECT_FALSE(is_pushf(popf));
}

}  // namespace
}  // namespace pastcone::runtime

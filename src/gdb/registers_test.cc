#include "pastcone/gdb/registers.h"

#include <gtest/gtest.h>

#include <cstring>

namespace pastcone::gdb {
namespace {

TEST(Registers, AreInGdbsOrder) {
  EXPECT_EQ(register_count(), 60u);
  Registers registers;
  registers.general.rax = 0x0102030405060708;
  registers.general.rip = 0x1122334455667788;
  registers.general.eflags = 0x246;
  registers.general.orig_rax = 231;
  registers.general.gs_base = 0x77;
  Bytes all = all_registers(registers);
  ASSERT_EQ(all.size(), 560u);
  EXPECT_EQ(all[0], 8);                                              // lowest byte of rax
  EXPECT_EQ(register_bytes(registers, 16)[7], 0x11);                 // rip
  EXPECT_EQ(register_bytes(registers, 17), (Bytes{0x46, 2, 0, 0}));  // eflags
  EXPECT_EQ(register_bytes(registers, 57)[0], 231);                  // orig_rax
  EXPECT_EQ(register_bytes(registers, 59)[0], 0x77);                 // gs_base
}

TEST(Registers, ComeBackAsTheyWere) {
  Registers registers;
  for (size_t i = 0; i < sizeof registers.general; ++i) {
    reinterpret_cast<uint8_t*>(&registers.general)[i] = static_cast<uint8_t>(i * 7);
  }
  for (size_t i = 0; i < offsetof(user_fpregs_struct, padding); ++i) {
    reinterpret_cast<uint8_t*>(&registers.floating)[i] = static_cast<uint8_t>(i * 5 + 1);
  }
  registers.floating.ftw = 0x5a;
  Registers copy = registers;
  ASSERT_TRUE(set_all_registers(copy, all_registers(registers)));
  EXPECT_EQ(std::memcmp(&copy, &registers, sizeof copy), 0);
  Registers other;
  ASSERT_TRUE(set_all_registers(other, all_registers(registers)));
  EXPECT_EQ(all_registers(other), all_registers(registers));
  EXPECT_FALSE(set_all_registers(other, Bytes(559)));
  EXPECT_FALSE(set_register(other, 0, Bytes(4)));
}

TEST(Registers, TagsFollowFromTheValues) {
  Registers registers;
  EXPECT_EQ(register_bytes(registers, 34), (Bytes{0xff, 0xff, 0, 0}));  // all empty
  // One value was pushed, 1.0: physical register 7 is st0.
  registers.floating.swd = 7 << 11;
  registers.floating.ftw = 0x80;
  uint64_t fraction = uint64_t{1} << 63;
  uint16_t exponent = 0x3fff;
  std::memcpy(registers.floating.st_space, &fraction, sizeof fraction);
  std::memcpy(reinterpret_cast<char*>(registers.floating.st_space) + 8, &exponent, sizeof exponent);
  EXPECT_EQ(register_bytes(registers, 34), (Bytes{0xff, 0x3f, 0, 0}));
  std::memset(registers.floating.st_space, 0, 16);
  EXPECT_EQ(register_bytes(registers, 34), (Bytes{0xff, 0x7f, 0, 0}));
  ASSERT_TRUE(set_register(registers, 34, Bytes{0xff, 0xcf, 0, 0}));
  EXPECT_EQ(registers.floating.ftw, 0x40);
}

TEST(Registers, AreDescribed) {
  const std::string& text = target_description();
  for (const char* part : {"i386:x86-64", "org.gnu.gdb.i386.core", "\"rip\" bitsize=\"64\"",
                           "\"st7\" bitsize=\"80\"", "\"xmm15\"", "\"orig_rax\"", "\"fs_base\""}) {
    EXPECT_NE(text.find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace pastcone::gdb

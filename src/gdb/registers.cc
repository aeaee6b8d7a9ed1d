#include "pastcone/gdb/registers.h"

#include <fmt/format.h>

#include <cstring>
#include <vector>

#include "pastcone/base/check.h"

namespace pastcone::gdb {
namespace {

/// Where a register lies in Registers, and what gdb sees of it: `stored` bytes, with zeros up to `size`.
struct Register {
  std::string name;
  const char* type;
  size_t size;
  size_t offset;
  size_t stored;
  bool is_tags = false;  ///< ftag, which is not stored as gdb wants it
};

/// Feature by feature, as gdb's i386 and amd64 code demands them; within one the order is free, and that of
/// gdb's own stubs.
struct Feature {
  const char* name;
  const char* types;
  std::vector<Register> registers;
};

#define GENERAL(member) (offsetof(Registers, general) + offsetof(user_regs_struct, member))
#define FLOATING(member) (offsetof(Registers, floating) + offsetof(user_fpregs_struct, member))

constexpr const char* kCoreTypes = R"(
<flags id="i386_eflags" size="4">
<field name="CF" start="0" end="0"/><field name="" start="1" end="1"/><field name="PF" start="2" end="2"/>
<field name="AF" start="4" end="4"/><field name="ZF" start="6" end="6"/><field name="SF" start="7" end="7"/>
<field name="TF" start="8" end="8"/><field name="IF" start="9" end="9"/><field name="DF" start="10" end="10"/>
<field name="OF" start="11" end="11"/><field name="NT" start="14" end="14"/><field name="RF" start="16" end="16"/>
<field name="VM" start="17" end="17"/><field name="AC" start="18" end="18"/><field name="VIF" start="19" end="19"/>
<field name="VIP" start="20" end="20"/><field name="ID" start="21" end="21"/>
</flags>)";

constexpr const char* kSseTypes = R"(
<vector id="v4f" type="ieee_single" count="4"/><vector id="v2d" type="ieee_double" count="2"/>
<vector id="v16i8" type="int8" count="16"/><vector id="v8i16" type="int16" count="8"/>
<vector id="v4i32" type="int32" count="4"/><vector id="v2i64" type="int64" count="2"/>
<union id="vec128">
<field name="v4_float" type="v4f"/><field name="v2_double" type="v2d"/><field name="v16_int8" type="v16i8"/>
<field name="v8_int16" type="v8i16"/><field name="v4_int32" type="v4i32"/><field name="v2_int64" type="v2i64"/>
<field name="uint128" type="uint128"/>
</union>
<flags id="i386_mxcsr" size="4">
<field name="IE" start="0" end="0"/><field name="DE" start="1" end="1"/><field name="ZE" start="2" end="2"/>
<field name="OE" start="3" end="3"/><field name="UE" start="4" end="4"/><field name="PE" start="5" end="5"/>
<field name="DAZ" start="6" end="6"/><field name="IM" start="7" end="7"/><field name="DM" start="8" end="8"/>
<field name="ZM" start="9" end="9"/><field name="OM" start="10" end="10"/><field name="UM" start="11" end="11"/>
<field name="PM" start="12" end="12"/><field name="FZ" start="15" end="15"/>
</flags>)";

Feature core() {
  std::vector<Register> registers;
  auto add = [&](const char* name, size_t offset, const char* type = "int64", size_t size = 8) {
    registers.push_back({name, type, size, offset, size});
  };
  add("rax", GENERAL(rax));
  add("rbx", GENERAL(rbx));
  add("rcx", GENERAL(rcx));
  add("rdx", GENERAL(rdx));
  add("rsi", GENERAL(rsi));
  add("rdi", GENERAL(rdi));
  add("rbp", GENERAL(rbp), "data_ptr");
  add("rsp", GENERAL(rsp), "data_ptr");
  add("r8", GENERAL(r8));
  add("r9", GENERAL(r9));
  add("r10", GENERAL(r10));
  add("r11", GENERAL(r11));
  add("r12", GENERAL(r12));
  add("r13", GENERAL(r13));
  add("r14", GENERAL(r14));
  add("r15", GENERAL(r15));
  add("rip", GENERAL(rip), "code_ptr");
  add("eflags", GENERAL(eflags), "i386_eflags", 4);
  add("cs", GENERAL(cs), "int32", 4);
  add("ss", GENERAL(ss), "int32", 4);
  add("ds", GENERAL(ds), "int32", 4);
  add("es", GENERAL(es), "int32", 4);
  add("fs", GENERAL(fs), "int32", 4);
  add("gs", GENERAL(gs), "int32", 4);
  for (size_t i = 0; i < 8; ++i) {
    registers.push_back({fmt::format("st{}", i), "i387_ext", 10, FLOATING(st_space) + 16 * i, 10});
  }
  auto control = [&](const char* name, size_t offset, size_t stored) {
    registers.push_back({name, "int", 4, offset, stored, std::strcmp(name, "ftag") == 0});
  };
  control("fctrl", FLOATING(cwd), 2);
  control("fstat", FLOATING(swd), 2);
  control("ftag", FLOATING(ftw), 2);
  // The kernel saves these as 64-bit addresses; gdb has names for the halves only.
  control("fiseg", FLOATING(rip) + 4, 4);
  control("fioff", FLOATING(rip), 4);
  control("foseg", FLOATING(rdp) + 4, 4);
  control("fooff", FLOATING(rdp), 4);
  control("fop", FLOATING(fop), 2);
  return {"org.gnu.gdb.i386.core", kCoreTypes, std::move(registers)};
}

Feature sse() {
  std::vector<Register> registers;
  for (size_t i = 0; i < 16; ++i) {
    registers.push_back({fmt::format("xmm{}", i), "vec128", 16, FLOATING(xmm_space) + 16 * i, 16});
  }
  registers.push_back({"mxcsr", "i386_mxcsr", 4, FLOATING(mxcsr), 4});
  return {"org.gnu.gdb.i386.sse", kSseTypes, std::move(registers)};
}

const std::vector<Feature>& features() {
  static const std::vector<Feature> all{
      core(),
      sse(),
      {"org.gnu.gdb.i386.linux", "", {{"orig_rax", "int", 8, GENERAL(orig_rax), 8}}},
      {"org.gnu.gdb.i386.segments",
       "",
       {{"fs_base", "int", 8, GENERAL(fs_base), 8}, {"gs_base", "int", 8, GENERAL(gs_base), 8}}}};
  return all;
}

const std::vector<Register>& table() {
  static const std::vector<Register> all = [] {
    std::vector<Register> list;
    for (const Feature& feature : features()) {
      list.insert(list.end(), feature.registers.begin(), feature.registers.end());
    }
    return list;
  }();
  return all;
}

// Tags: two bits for each register of the x87 (valid, zero, special, empty), of which FXSAVE keeps "not
// empty" alone. What the others would be follows from the register, which lies where the stack's top says.
enum Tag : unsigned { kValid = 0, kZero = 1, kSpecial = 2, kEmpty = 3 };

Tag tag_of(const user_fpregs_struct& floating, unsigned physical) {
  if ((floating.ftw >> physical & 1) == 0) return kEmpty;
  unsigned top = floating.swd >> 11 & 7;
  uint64_t fraction;
  uint16_t exponent;
  const char* place = reinterpret_cast<const char*>(floating.st_space) + 16 * ((physical - top) & 7);
  std::memcpy(&fraction, place, sizeof fraction);
  std::memcpy(&exponent, place + sizeof fraction, sizeof exponent);
  exponent &= 0x7fff;
  if (exponent == 0) return fraction == 0 ? kZero : kSpecial;
  return exponent != 0x7fff && fraction >> 63 != 0 ? kValid : kSpecial;
}

uint16_t full_tags(const user_fpregs_struct& floating) {
  unsigned tags = 0;
  for (unsigned i = 0; i < 8; ++i) tags |= static_cast<unsigned>(tag_of(floating, i)) << 2 * i;
  return static_cast<uint16_t>(tags);
}

uint16_t kept_tags(uint16_t full) {
  unsigned kept = 0;
  for (unsigned i = 0; i < 8; ++i) kept |= ((full >> 2 * i & 3) != kEmpty ? 1u : 0u) << i;
  return static_cast<uint16_t>(kept);
}

std::string describe() {
  std::string text =
      "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target version=\"1.0\">\n"
      "<architecture>i386:x86-64</architecture>\n<osabi>GNU/Linux</osabi>\n";
  for (const Feature& feature : features()) {
    text += fmt::format("<feature name=\"{}\">{}\n", feature.name, feature.types);
    for (const Register& one : feature.registers) {
      text +=
          fmt::format("<reg name=\"{}\" bitsize=\"{}\" type=\"{}\"/>\n", one.name, 8 * one.size, one.type);
    }
    text += "</feature>\n";
  }
  return text + "</target>\n";
}

}  // namespace

const std::string& target_description() {
  static const std::string text = describe();
  return text;
}

size_t register_count() { return table().size(); }

Bytes register_bytes(const Registers& registers, size_t number) {
  CHECK(number < table().size());
  const Register& one = table()[number];
  Bytes bytes(one.size);
  if (one.is_tags) {
    uint16_t tags = full_tags(registers.floating);
    std::memcpy(bytes.data(), &tags, sizeof tags);
  } else {
    std::memcpy(bytes.data(), reinterpret_cast<const char*>(&registers) + one.offset, one.stored);
  }
  return bytes;
}

bool set_register(Registers& registers, size_t number, ByteView bytes) {
  CHECK(number < table().size());
  const Register& one = table()[number];
  if (bytes.size() != one.size) return false;
  if (one.is_tags) {
    uint16_t tags;
    std::memcpy(&tags, bytes.data(), sizeof tags);
    registers.floating.ftw = kept_tags(tags);
  } else {
    std::memcpy(reinterpret_cast<char*>(&registers) + one.offset, bytes.data(), one.stored);
  }
  return true;
}

Bytes all_registers(const Registers& registers) {
  Bytes all;
  for (size_t i = 0; i < table().size(); ++i) {
    Bytes bytes = register_bytes(registers, i);
    all.insert(all.end(), bytes.begin(), bytes.end());
  }
  return all;
}

bool set_all_registers(Registers& registers, ByteView bytes) {
  size_t total = 0;
  for (const Register& one : table()) total += one.size;
  if (bytes.size() != total) return false;
  for (size_t i = 0; i < table().size(); ++i) {
    set_register(registers, i, bytes.first(table()[i].size));
    bytes = bytes.subspan(table()[i].size);
  }
  return true;
}

}  // namespace pastcone::gdb

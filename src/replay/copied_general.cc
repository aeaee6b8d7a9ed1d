// Those of general registers that emulate.cc leaves: with a prefix, of two bytes, with the carry, of bits.
#include "pastcone/replay/copied_forms.h"

namespace pastcone::replay {
namespace {

using Prefix = InstructionName::Prefix;

CopiedForm reads_rm(uint8_t size) {
  CopiedForm form;
  form.size = size;
  form.bytes = size == 1;
  form.reg_general = form.rm_general = form.rm_read = true;
  return form;
}

CopiedForm to_reg(uint8_t size) {
  CopiedForm form = reads_rm(size);
  form.reg_written = true;
  return form;
}

CopiedForm to_rm(uint8_t size) {
  CopiedForm form = reads_rm(size);
  form.rm_written = form.may_lock = true;
  return form;
}

CopiedForm with_name(CopiedForm form, uint8_t immediate = 0) {
  form.reg_general = false;
  form.reg_is_name = true;
  form.immediate = immediate;
  return form;
}

CopiedForm counted(CopiedForm form, uint8_t immediate = 0) {
  form.immediate = immediate;
  form.by_count = true;
  form.may_lock = false;
  return form;
}

std::optional<CopiedForm> one_byte(const InstructionName& name, uint8_t width) {
  constexpr unsigned kCompare = 7;
  uint8_t operation = name.operation;
  uint8_t size = (operation & 1) != 0 ? width : 1;
  uint8_t word = width == 2 ? 2 : 4;
  if (operation < 0x40 && (operation & 7) < 4) {
    if (operation >> 3 == kCompare) return reads_rm(size);
    return (operation & 2) != 0 ? to_reg(size) : to_rm(size);
  }
  CopiedForm both = to_rm(size);
  switch (operation) {
    case 0x80:
    case 0x81:
    case 0x83: {
      uint8_t immediate = operation == 0x81 ? word : 1;
      return with_name(name.field == kCompare ? reads_rm(size) : to_rm(size), immediate);
    }
    case 0x84:
    case 0x85:
      return reads_rm(size);
    case 0x86:
    case 0x87:
      both.reg_written = true;
      return both;
    case 0x88:
    case 0x89:
      both.rm_read = both.may_lock = false;
      return both;
    case 0x8a:
    case 0x8b:
      return to_reg(size);
    case 0xc0:
    case 0xc1:
      if (name.field == 6) return std::nullopt;
      return counted(with_name(both), 1);
    case 0xd0:
    case 0xd1:
      if (name.field == 6) return std::nullopt;
      both.may_lock = false;
      return with_name(both);
    case 0xd2:
    case 0xd3:
      if (name.field == 6) return std::nullopt;
      return counted(with_name(both));
    case 0xc6:
    case 0xc7:
      if (name.field != 0) return std::nullopt;
      both.rm_read = both.may_lock = false;
      return with_name(both, operation == 0xc6 ? 1 : word);
    case 0xf6:
    case 0xf7:
      if (name.field == 0) return with_name(reads_rm(size), operation == 0xf6 ? 1 : word);
      if (name.field == 2 || name.field == 3) return with_name(both);
      return std::nullopt;
    case 0xfe:
    case 0xff:
      if (name.field > 1) return std::nullopt;
      return with_name(both);
    default:
      return std::nullopt;
  }
}

std::optional<CopiedForm> two_bytes(const InstructionName& name, uint8_t width) {
  uint8_t operation = name.operation;
  if ((operation & 0xf0) == 0x40) return to_reg(width);
  uint8_t size = (operation & 1) != 0 ? width : 1;
  CopiedForm form = to_rm(size);
  switch (operation) {
    case 0xa3:
    case 0xab:
    case 0xb3:
    case 0xbb:
      form = operation == 0xa3 ? reads_rm(width) : to_rm(width);
      form.register_only = true;  // else the bit may be far from there
      return form;
    case 0xba:
      if (name.field < 4) return std::nullopt;
      return with_name(name.field == 4 ? reads_rm(width) : to_rm(width), 1);
    case 0xa4:
    case 0xac:
    case 0xa5:
    case 0xad:
      if (width == 2) return std::nullopt;  // has no meaning for some counts
      return counted(to_rm(width), (operation & 1) != 0 ? 0 : 1);
    case 0xaf:
      return to_reg(width);
    case 0xb0:
    case 0xb1:
      form.memory_only = form.exchanges = true;
      return form;
    case 0xc0:
    case 0xc1:
      form.memory_only = form.reg_written = true;
      return form;
    case 0xb6:
    case 0xbe:
    case 0xb7:
    case 0xbf:
      form = to_reg((operation & 1) != 0 ? 2 : 1);
      form.bytes = false;
      // A byte of what is no byte register otherwise is left alone.
      if (form.size == 1) form.memory_only = true;
      return form;
    case 0xbc:
    case 0xbd:
      return to_reg(width);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<CopiedForm> general_form(const InstructionName& name) {
  if (!name.is_legacy() || name.prefix == Prefix::kF2) return std::nullopt;
  uint8_t width = name.wide ? 8 : name.prefix == Prefix::k66 ? 2 : 4;
  if (name.prefix == Prefix::kF3) {  // popcnt, tzcnt, lzcnt
    bool counts = name.operation == 0xb8 || name.operation == 0xbc || name.operation == 0xbd;
    return name.map == 1 && counts ? std::optional(to_reg(width)) : std::nullopt;
  }
  if (name.map == 0) return one_byte(name, width);
  return name.map == 1 ? two_bytes(name, width) : std::nullopt;
}

}  // namespace pastcone::replay

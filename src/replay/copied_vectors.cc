// Vectors, of which a number is the commonest: moves, arithmetic, conversions; and what the C library copies,
// fills and compares memory with.
#include "pastcone/replay/copied_forms.h"

namespace pastcone::replay {
namespace {

using Encoding = InstructionName::Encoding;
using Prefix = InstructionName::Prefix;

/// From rm to reg, or by the name.
CopiedForm loads(uint8_t size) {
  CopiedForm form;
  form.vectors = form.rm_read = true;
  form.size = size;
  return form;
}

CopiedForm stores(uint8_t size) {
  CopiedForm form;
  form.vectors = form.rm_written = true;
  form.size = size;
  return form;
}

/// The third operand is what the first is in the older encoding.
CopiedForm combines(uint8_t size, uint8_t immediate = 0) {
  CopiedForm form = loads(size);
  form.third = true;
  form.immediate = immediate;
  return form;
}

CopiedForm with_immediate(CopiedForm form) {
  form.immediate = 1;
  return form;
}

CopiedForm aligned(CopiedForm form) {
  form.aligned = true;
  return form;
}

CopiedForm to_general(CopiedForm form) {
  form.reg_general = form.reg_written = true;
  return form;
}

CopiedForm to_flags(CopiedForm form) {
  form.sets_flags = true;
  return form;
}

CopiedForm of_registers(CopiedForm form) {
  form.register_only = true;
  return form;
}

CopiedForm of_memory(CopiedForm form) {
  form.memory_only = true;
  return form;
}

bool is_scalar(Prefix prefix) { return prefix == Prefix::kF3 || prefix == Prefix::kF2; }

/// Of four kinds of numbers, by the prefix.
uint8_t size_of(const InstructionName& name) {
  return name.prefix == Prefix::kF3 ? 4 : name.prefix == Prefix::kF2 ? 8 : name.length;
}

/// Behind the prefix 66 all of them: integers, and the third operand is another.
bool is_packed_integers(uint8_t operation) {
  switch (operation) {
    case 0x60 ... 0x6d:
    case 0x74 ... 0x76:
    case 0xd4:
    case 0xd5:
    case 0xd8 ... 0xe0:
    case 0xe3 ... 0xe5:
    case 0xe8 ... 0xef:
    case 0xf4 ... 0xf6:
    case 0xf8 ... 0xfe:
      return true;
    default:
      return false;
  }
}

std::optional<CopiedForm> converts(const InstructionName& name) {
  uint8_t size = size_of(name), half = name.length / 2;
  CopiedForm form;
  switch (name.operation) {
    case 0x2a:  // from a general register
      if (!is_scalar(name.prefix)) return std::nullopt;
      form = combines(name.wide ? 8 : 4);
      form.rm_general = true;
      return form;
    case 0x2c:
    case 0x2d:
      return is_scalar(name.prefix) ? std::optional(to_general(loads(size))) : std::nullopt;
    case 0x5a:
      if (is_scalar(name.prefix)) return combines(size);
      return loads(name.prefix == Prefix::kNone ? half : name.length);
    case 0x5b:
      return name.prefix == Prefix::kF2 ? std::nullopt : std::optional(loads(name.length));
    default:  // e6
      if (name.prefix == Prefix::kNone) return std::nullopt;
      return loads(name.prefix == Prefix::kF3 ? half : name.length);
  }
}

std::optional<CopiedForm> moves(const InstructionName& name) {
  bool plain = !is_scalar(name.prefix), stored = (name.operation & 1) != 0;
  bool of_integers = name.prefix == Prefix::k66, large = name.length > 16;
  uint8_t size = size_of(name);
  CopiedForm form = stored ? stores(size) : loads(size);
  switch (name.operation) {
    case 0x10:
    case 0x11:
      // Of registers, it combines.
      return plain || name.is_legacy() ? form : of_memory(form);
    case 0x28:
    case 0x29:
      return plain ? std::optional(aligned(form)) : std::nullopt;
    case 0x12:
    case 0x16:
      if (!plain || large) return std::nullopt;
      form = combines(8);
      form.memory_only = of_integers;
      return form;
    case 0x13:
    case 0x17:
      return plain && !large ? std::optional(of_memory(stores(8))) : std::nullopt;
    case 0x6f:
    case 0x7f:
      form = name.operation == 0x6f ? loads(name.length) : stores(name.length);
      if (of_integers) return aligned(form);
      return name.prefix == Prefix::kF3 ? std::optional(form) : std::nullopt;
    case 0x6e:
    case 0x7e:
      if (large) return std::nullopt;
      if (name.operation == 0x7e && name.prefix == Prefix::kF3) return loads(8);
      if (!of_integers) return std::nullopt;
      form = name.operation == 0x6e ? loads(name.wide ? 8 : 4) : stores(name.wide ? 8 : 4);
      form.rm_general = true;
      return form;
    default:  // d6
      return of_integers && !large ? std::optional(stores(8)) : std::nullopt;
  }
}

/// kmov, kortest, ktest
std::optional<CopiedForm> masks(const InstructionName& name) {
  if (name.encoding != Encoding::kVex || name.length != 16) return std::nullopt;
  CopiedForm form = of_registers(loads(0));
  // w, b, d and q: the last two have another prefix here than elsewhere.
  bool narrow = !name.wide && (name.prefix == Prefix::kNone || name.prefix == Prefix::k66);
  bool known = narrow || name.prefix == Prefix::kF2;
  switch (name.operation) {
    case 0x92:
      form.reg_is_mask = form.rm_general = true;
      return known ? std::optional(form) : std::nullopt;
    case 0x93:
      form.rm_is_mask = true;
      return known ? std::optional(to_general(form)) : std::nullopt;
    default:  // 98, 99
      form.reg_is_mask = form.rm_is_mask = true;
      return is_scalar(name.prefix) ? std::nullopt : std::optional(to_flags(form));
  }
}

std::optional<CopiedForm> behind_0f(const InstructionName& name) {
  uint8_t size = size_of(name), full = name.length;
  bool plain = !is_scalar(name.prefix), of_integers = name.prefix == Prefix::k66;
  if (of_integers && is_packed_integers(name.operation)) return combines(full);
  CopiedForm form;
  switch (name.operation) {
    case 0x10 ... 0x13:
    case 0x16:
    case 0x17:
    case 0x28:
    case 0x29:
    case 0x6e:
    case 0x6f:
    case 0x7e:
    case 0x7f:
    case 0xd6:
      return moves(name);
    case 0x2a:
    case 0x2c:
    case 0x2d:
    case 0x5a:
    case 0x5b:
    case 0xe6:
      return converts(name);
    case 0x14:
    case 0x15:
    case 0x54 ... 0x57:
      return plain ? std::optional(combines(full)) : std::nullopt;
    case 0xc6:
      return plain ? std::optional(combines(full, 1)) : std::nullopt;
    case 0x2e:
    case 0x2f:
      return plain ? std::optional(to_flags(loads(of_integers ? 8 : 4))) : std::nullopt;
    case 0x51:
      return plain ? loads(full) : combines(size);
    case 0x58:
    case 0x59:
    case 0x5c ... 0x5f:
      return combines(size);
    case 0xc2:
      return combines(size, 1);
    case 0x70:
      return name.prefix == Prefix::kNone ? std::nullopt : std::optional(with_immediate(loads(full)));
    case 0x71 ... 0x73:
      form = of_registers(combines(full, 1));
      form.reg_is_name = true;
      if (!of_integers || name.field == 0 || name.field % 2 != 0) {
        bool whole = name.operation == 0x73 && (name.field == 3 || name.field == 7);
        if (!of_integers || !whole) return std::nullopt;
      }
      return name.operation == 0x73 && name.field == 4 ? std::nullopt : std::optional(form);
    case 0xd1 ... 0xd3:
    case 0xe1:
    case 0xe2:
    case 0xf1 ... 0xf3:
      return of_integers ? std::optional(combines(16)) : std::nullopt;
    case 0xd7:
      return of_integers ? std::optional(of_registers(to_general(loads(full)))) : std::nullopt;
    case 0x50:
      return plain ? std::optional(of_registers(to_general(loads(full)))) : std::nullopt;
    case 0x77:  // zeroes upper halves, or all
      form.vectors = form.bare = true;
      return name.encoding == Encoding::kVex && name.prefix == Prefix::kNone ? std::optional(form)
                                                                             : std::nullopt;
    case 0x92:
    case 0x93:
    case 0x98:
    case 0x99:
      return masks(name);
    default:
      return std::nullopt;
  }
}

std::optional<CopiedForm> behind_38(const InstructionName& name) {
  bool vex = name.encoding == Encoding::kVex;
  if (name.prefix != Prefix::k66) return std::nullopt;
  switch (name.operation) {
    case 0x00 ... 0x0b:
    case 0x28:
    case 0x29:
    case 0x37 ... 0x40:
      return combines(name.length);
    case 0x17:
      return to_flags(loads(name.length));
    case 0x1c ... 0x1e:
      return loads(name.length);
    case 0x58:
    case 0x59:
      return vex && !name.wide ? std::optional(loads(name.operation == 0x58 ? 4 : 8)) : std::nullopt;
    case 0x78:
    case 0x79:
      return vex && !name.wide ? std::optional(loads(name.operation == 0x78 ? 1 : 2)) : std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<CopiedForm> behind_3a(const InstructionName& name) {
  if (name.prefix != Prefix::k66) return std::nullopt;
  switch (name.operation) {
    case 0x0a:
    case 0x0b:  // rounds
      return combines(name.operation == 0x0a ? 4 : 8, 1);
    case 0x0f:
      return combines(name.length, 1);
    default:
      return std::nullopt;
  }
}

/// Without masks, and of what there is with others, too: moves, and what is filled or compared with.
std::optional<CopiedForm> evex_form(const InstructionName& name) {
  uint8_t full = name.length, operation = name.operation;
  bool plain = !is_scalar(name.prefix), of_integers = name.prefix == Prefix::k66;
  CopiedForm form;
  if (name.map == 1) {
    switch (operation) {
      case 0x10:
      case 0x11:
      case 0x28:
      case 0x29:
        if (!plain || name.wide != of_integers) return std::nullopt;
        return moves(name);
      case 0x6f:
      case 0x7f:
        if (name.prefix == Prefix::kNone) return std::nullopt;
        form = operation == 0x6f ? loads(full) : stores(full);
        form.aligned = of_integers;
        form.maskable = operation == 0x6f;
        return form;
      case 0xdb:
      case 0xeb:
      case 0xef:
      case 0xda:
        return of_integers ? std::optional(combines(full)) : std::nullopt;
      case 0x74:
      case 0x75:
      case 0x76:
        form = combines(full);
        form.reg_is_mask = true;
        return of_integers && !(operation == 0x76 && name.wide) ? std::optional(form) : std::nullopt;
      default:
        return std::nullopt;
    }
  }
  if (name.map == 2 && (operation == 0x26 || operation == 0x27)) {
    form = combines(full);
    form.reg_is_mask = true;
    bool known = of_integers || name.prefix == Prefix::kF3;
    return known ? std::optional(form) : std::nullopt;
  }
  if (name.map == 2 && (operation == 0x7a || operation == 0x7b || operation == 0x7c)) {
    form = of_registers(loads(0));
    form.rm_general = true;
    return of_integers && (operation == 0x7c || !name.wide) ? std::optional(form) : std::nullopt;
  }
  if (name.map == 3 && operation == 0x25)  // any operation of three
    return of_integers ? std::optional(combines(full, 1)) : std::nullopt;
  if (name.map == 3 && (operation == 0x3e || operation == 0x3f)) {
    form = combines(full, 1);
    form.reg_is_mask = true;
    return of_integers ? std::optional(form) : std::nullopt;
  }
  return std::nullopt;
}

/// What the processor has not, nobody does here.
bool has(const InstructionName& name) {
  static const bool sse = __builtin_cpu_supports("sse4.2"), avx = __builtin_cpu_supports("avx2"),
                    evex = __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
                           __builtin_cpu_supports("avx512dq");
  if (name.encoding == Encoding::kEvex) return evex;
  bool of_masks = name.map == 1 && name.operation >= 0x92 && name.operation <= 0x99;
  if (of_masks) return evex;
  if (name.encoding == Encoding::kVex) return avx;
  return name.map == 1 || sse;
}

}  // namespace

std::optional<CopiedForm> vector_form(const InstructionName& name) {
  if (!has(name)) return std::nullopt;
  if (name.encoding == Encoding::kEvex) return evex_form(name);
  std::optional<CopiedForm> form = name.map == 1   ? behind_0f(name)
                                   : name.map == 2 ? behind_38(name)
                                   : name.map == 3 ? behind_3a(name)
                                                   : std::nullopt;
  // Memory is to be aligned by the older encoding wherever a vector is combined with another.
  bool move = name.map == 1 && (name.operation == 0x10 || name.operation == 0x11 || name.operation == 0x6f ||
                                name.operation == 0x7f);
  if (form && name.is_legacy() && form->size == 16 && !move) form->aligned = true;
  return form;
}

}  // namespace pastcone::replay

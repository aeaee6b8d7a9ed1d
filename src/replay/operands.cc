#include "pastcone/replay/operands.h"

#include <utility>

namespace pastcone::replay {
namespace {

constexpr uint32_t kAnyVector = 64, kState = 4096;

/// As instructions number them.
uint64_t value_of(const user_regs_struct& r, unsigned number) {
  const unsigned long long all[16] = {r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi,
                                      r.r8,  r.r9,  r.r10, r.r11, r.r12, r.r13, r.r14, r.r15};
  return all[number & 15];
}

class Decoder {
 public:
  Decoder(std::span<const uint8_t> code, const user_regs_struct& registers) : code_(code), r_(registers) {}

  Operands run() {
    prefixes();
    uint8_t operation = byte();
    if (operation == 0xc4 || operation == 0xc5 || operation == 0x62)
      vector(operation);
    else if (operation == 0x0f)
      two_bytes();
    else
      one_byte(operation);
    if (short_) result_.known = false;
    return std::move(result_);
  }

 private:
  uint8_t byte() {
    if (at_ < code_.size()) return code_[at_++];
    short_ = true;
    return 0;
  }
  int64_t number(unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; ++i) value |= uint64_t{byte()} << 8 * i;
    unsigned shift = 64 - 8 * bytes;
    return static_cast<int64_t>(value << shift) >> shift;
  }
  unsigned immediate() const { return narrow_ ? 2 : 4; }
  /// Of a general register; even operations are about bytes.
  uint32_t width(uint8_t operation = 1) const { return operation % 2 == 0 ? 1 : wide_ ? 8 : narrow_ ? 2 : 4; }
  void touch(uint64_t address, uint32_t size) {
    if (short_addresses_) address &= UINT32_MAX;
    result_.memory.push_back({address + segment_, size});
  }
  void touch_stack() {
    uint64_t segment = std::exchange(segment_, 0);
    touch(r_.rsp - 8, 16);
    segment_ = segment;
  }

  void prefixes() {
    for (;;) {
      uint8_t next = at_ < code_.size() ? code_[at_] : 0;
      switch (next) {
        case 0x66:
          narrow_ = true;
          break;
        case 0x67:
          short_addresses_ = true;
          break;
        case 0x64:
          segment_ = r_.fs_base;
          break;
        case 0x65:
          segment_ = r_.gs_base;
          break;
        case 0xf2:
        case 0xf3:
          repeat_ = next;
          break;
        case 0x26:
        case 0x2e:
        case 0x36:
        case 0x3e:
        case 0xf0:
          break;
        default:
          if ((next & 0xf0) != 0x40) return;
          wide_ = (next & 8) != 0;
          extend(next & 4, next & 2, next & 1);
          ++at_;
          return;
      }
      ++at_;
    }
  }
  void extend(bool reg, bool index, bool base) {
    reg_high_ = reg ? 8 : 0;
    index_high_ = index ? 8 : 0;
    base_high_ = base ? 8 : 0;
  }

  /// As modrm() will find it.
  unsigned field_of_next() const { return at_ < code_.size() ? code_[at_] >> 3 & 7 : 0; }

  /// The field that is no operand in memory. `after`: bytes of the instruction behind it.
  void modrm(unsigned after, uint32_t size, bool scaled_distance = false) {
    uint8_t form = byte();
    mode_ = form >> 6;
    field_ = form >> 3 & 7;
    base_ = (form & 7) | base_high_;
    if (mode_ == 3) return;
    uint64_t address = 0;
    bool relative = mode_ == 0 && (form & 7) == 5;
    if ((form & 7) == 4) {
      uint8_t scaled = byte();
      unsigned index = (scaled >> 3 & 7) | index_high_, base = scaled & 7;
      if (index != 4) address = value_of(r_, index) << (scaled >> 6);
      if (mode_ == 0 && base == 5)
        address += static_cast<uint64_t>(number(4));
      else
        address += value_of(r_, base | base_high_);
    } else if (!relative) {
      address = value_of(r_, base_);
    }
    if (relative) {
      auto distance = static_cast<uint64_t>(number(4));
      address = r_.rip + at_ + after + distance;
    }
    if (mode_ == 2) address += static_cast<uint64_t>(number(4));
    address_ = address;
    if (mode_ == 1) {
      int64_t distance = number(1);
      address_ = address + static_cast<uint64_t>(distance);
      for (int64_t scale = 2; scaled_distance && scale <= 64; scale *= 2)
        touch(address + static_cast<uint64_t>(distance * scale), size);
    }
    if (size > 0) touch(address_, size);
  }

  void vector(uint8_t kind) {
    unsigned map = 1;
    uint8_t first = byte(), last = first;
    if (kind == 0xc5) {
      extend((first & 0x80) == 0, false, false);
    } else {
      extend((first & 0x80) == 0, (first & 0x40) == 0, (first & 0x20) == 0);
      map = kind == 0xc4 ? first & 31 : first & 7;
      last = byte();
      if (kind == 0x62) byte();
    }
    uint32_t size = kind == 0x62 ? kAnyVector : (last & 4) != 0 ? 32 : 16;
    uint8_t operation = byte();
    if (map == 1 && operation == 0x77) return;
    if (map == 1 && operation == 0xf7) return touch(r_.rdi, 16);
    bool many_places =
        map == 2 && ((operation >= 0x90 && operation <= 0x93) || (operation >= 0xa0 && operation <= 0xa3) ||
                     operation == 0xc6 || operation == 0xc7);
    if (many_places) result_.known = false;
    bool has_immediate =
        map == 3 || (map == 1 && ((operation >= 0x70 && operation <= 0x73) || operation == 0xc2 ||
                                  (operation >= 0xc4 && operation <= 0xc6)));
    modrm(has_immediate ? 1 : 0, size, kind == 0x62);
    if (map > 3) result_.known = false;
  }

  void two_bytes() {
    uint8_t operation = byte();
    switch (operation) {
      case 0x05:
      case 0x07:
      case 0x0b:
      case 0x34:
      case 0x35:
      case 0xb9:
      case 0xff:
        result_.leaves = true;
        return;
      case 0x06:
      case 0x08:
      case 0x09:
      case 0x0e:
      case 0x30 ... 0x33:
      case 0x37:
      case 0x77:
      case 0x80 ... 0x8f:
      case 0xa2:
      case 0xaa:
      case 0xc8 ... 0xcf:
        return;
      case 0xa0:
      case 0xa1:
      case 0xa8:
      case 0xa9:
        return touch_stack();
      case 0x0d:
      case 0x18 ... 0x1f:
        return;  // hints
      case 0x38:
        byte();
        return modrm(0, 16);
      case 0x3a:
        byte();
        return modrm(1, 16);
      case 0x70 ... 0x73:
      case 0xa4:
      case 0xac:
      case 0xba:
      case 0xc2:
      case 0xc4 ... 0xc6:
        return modrm(1, 16);
      case 0xa3:
      case 0xab:
      case 0xb3:
      case 0xbb:
        return bit();
      case 0xf7:
        return touch(r_.rdi, 16);  // maskmovdqu
      case 0xae:
      case 0xc7:
        modrm(0, 0);
        if (mode_ != 3) touch(address_, operation == 0xae && field_ < 2 ? 512 : field_ >= 3 ? kState : 16);
        return;
      case 0x10:
      case 0x11:
      case 0x51:
      case 0x58 ... 0x5a:
      case 0x5c ... 0x5f:
        return modrm(0, repeat_ == 0xf3 ? 4 : repeat_ == 0xf2 ? 8 : 16);
      case 0x2a:
      case 0x2c ... 0x2f:
      case 0x40 ... 0x4f:
      case 0x6e:
      case 0x7e:
      case 0xaf:
      case 0xb1:
      case 0xb8:
      case 0xbc:
      case 0xbd:
      case 0xc1:
      case 0xd6:
        return modrm(0, 8);
      case 0x90 ... 0x9f:
      case 0xb0:
      case 0xb6:
      case 0xbe:
      case 0xc0:
        return modrm(0, 1);
      case 0xb7:
      case 0xbf:
        return modrm(0, 2);
      default:
        return modrm(0, 16);
    }
  }

  /// bt and the like: the bit may lie far away.
  void bit() {
    uint64_t value = value_of(r_, field_of_next() | reg_high_);
    modrm(0, 0);
    if (mode_ == 3) return;
    int64_t distance = wide_     ? static_cast<int64_t>(value)
                       : narrow_ ? static_cast<int16_t>(value)
                                 : static_cast<int32_t>(value);
    touch(address_ + static_cast<uint64_t>((distance >> 6) * 8), 16);
  }

  void one_byte(uint8_t operation) {
    switch (operation) {
      case 0x00 ... 0x3f:
        if ((operation & 7) < 4) modrm(0, width(operation));
        return;
      case 0x50 ... 0x5f:
      case 0x68:
      case 0x6a:
      case 0x9c:
      case 0x9d:
      case 0xc2:
      case 0xc3:
      case 0xe8:
        return touch_stack();
      case 0xc8:
      case 0xc9:
        touch_stack();
        segment_ = 0;
        return touch(r_.rbp, 8);
      case 0x63:
        return modrm(0, 4);
      case 0x69:
      case 0x81:
      case 0xc7:
        return modrm(immediate(), width());
      case 0x6b:
      case 0x80:
      case 0x83:
      case 0xc0:
      case 0xc1:
      case 0xc6:
        return modrm(1, width(operation));
      case 0x84 ... 0x8c:
      case 0x8e:
      case 0xd0 ... 0xd3:
      case 0xfe:
        return modrm(0, width(operation));
      case 0x8d:
        return;  // lea
      case 0x8f:
        touch_stack();
        return modrm(0, 8);
      case 0xa0 ... 0xa3:
        return touch(static_cast<uint64_t>(number(8)), 8);
      case 0xa4 ... 0xa7:
        touch(r_.rsi, width(operation));
        segment_ = 0;
        return touch(r_.rdi, width(operation));
      case 0xaa:
      case 0xab:
      case 0xae:
      case 0xaf:
        segment_ = 0;
        return touch(r_.rdi, width(operation));
      case 0xac:
      case 0xad:
        return touch(r_.rsi, width(operation));
      case 0xd7:
        return touch(r_.rbx + (r_.rax & 0xff), 1);
      case 0xd8 ... 0xdf:
        return modrm(0, field_of_next() >= 4 ? 128 : 16);
      case 0xf6:
      case 0xf7:
        return group_three(operation);
      case 0xff:
        modrm(0, 8);
        if (field_ >= 2) touch_stack();
        return;
      case 0x6c ... 0x6f:
      case 0xca:
      case 0xcb:
      case 0xcc:
      case 0xcd:
      case 0xcf:
      case 0xe4 ... 0xe7:
      case 0xec ... 0xef:
      case 0xf1:
      case 0xf4:
      case 0xfa:
      case 0xfb:
        result_.leaves = true;
        return;
      default:
        return;  // registers alone, or a jump
    }
  }

  /// test, not, neg, mul, div
  void group_three(uint8_t operation) {
    bool tests = field_of_next() < 2;
    modrm(!tests ? 0 : operation == 0xf6 ? 1 : immediate(), width(operation));
    if (field_ < 6) return;
    result_.divides = true;
    if (mode_ == 3) {
      unsigned bits = operation == 0xf6 ? 8 : wide_ ? 64 : narrow_ ? 16 : 32;
      bool high = operation == 0xf6 && base_ >= 4 && base_ < 8;  // %ah and the like, or %spl
      uint64_t value = value_of(r_, base_);
      result_.divisor = high ? 1 : bits == 64 ? value : value & ((uint64_t{1} << bits) - 1);
    }
  }

  std::span<const uint8_t> code_;
  const user_regs_struct& r_;
  Operands result_;
  size_t at_ = 0;
  bool short_ = false, wide_ = false, narrow_ = false, short_addresses_ = false;
  uint8_t repeat_ = 0;
  uint64_t segment_ = 0, address_ = 0;
  unsigned reg_high_ = 0, index_high_ = 0, base_high_ = 0;  ///< 8 or 0
  unsigned mode_ = 0, field_ = 0, base_ = 0;                ///< of the ModRM byte
};

}  // namespace

Operands operands_of(std::span<const uint8_t> code, const user_regs_struct& registers) {
  return Decoder(code, registers).run();
}

}  // namespace pastcone::replay

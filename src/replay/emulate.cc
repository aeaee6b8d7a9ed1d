#include <sys/uio.h>

#include <cstring>

#include "pastcone/replay/emulation.h"
#include "pastcone/replay/watchpoints.h"

namespace pastcone::replay {
namespace {

constexpr uint64_t kBelowStack = 256, kAboveStack = 1 << 16, kPage = 4096;

}  // namespace

Emulation::Operand Emulation::modrm(unsigned after) {
  uint8_t form = byte();
  unsigned mode = form >> 6, low = form & 7;
  reg_ = (form >> 3 & 7) | extend_reg_;
  if (mode == 3) return {false, low | extend_base_, 0};
  uint64_t address = 0;
  bool relative = mode == 0 && low == 5;
  if (low == 4) {
    uint8_t scaled = byte();
    unsigned index = (scaled >> 3 & 7) | extend_index_, base = scaled & 7;
    if (index != 4) address = register_of(r_, index) << (scaled >> 6);
    if (mode == 0 && base == 5)
      address += static_cast<uint64_t>(signed_word());
    else
      address += register_of(r_, base | extend_base_);
  } else if (!relative) {
    address = register_of(r_, low | extend_base_);
  }
  if (mode == 1) address += static_cast<uint64_t>(signed_byte());
  if (mode == 2) address += static_cast<uint64_t>(signed_word());
  if (relative) {
    auto distance = static_cast<uint64_t>(signed_word());
    address = r_.rip + at_ + after + distance;
  }
  return {true, 0, address};
}

/// What others may have an eye on is left to the processor, which does it in one go.
bool Emulation::may_touch(uint64_t address, unsigned size, bool writes) const {
  if (writes && bounds_.guarded) return false;
  if (bounds_.watches != nullptr && bounds_.watches->sees(address, size, writes)) return false;
  bool on_stack = address - (r_.rsp - kBelowStack) < kBelowStack + kAboveStack;
  return on_stack || bounds_.alone;
}

bool Emulation::read_memory(uint64_t address, void* to, unsigned size) const {
  if (!may_touch(address, size, false)) return false;
  if (bounds_.memory != nullptr) return bounds_.memory->read(address, to, size);
  iovec ours{to, size}, theirs{reinterpret_cast<void*>(address), size};
  return process_vm_readv(bounds_.process, &ours, 1, &theirs, 1, 0) == static_cast<ssize_t>(size);
}

bool Emulation::write_memory(uint64_t address, const void* from, unsigned size) {
  bool in_two_pages = address % kPage + size > kPage;  // of which one may be written, and one not
  if (in_two_pages || !may_touch(address, size, true)) return false;
  if (bounds_.memory != nullptr) return bounds_.memory->write(address, from, size);
  iovec ours{const_cast<void*>(from), size}, theirs{reinterpret_cast<void*>(address), size};
  return process_vm_writev(bounds_.process, &ours, 1, &theirs, 1, 0) == static_cast<ssize_t>(size);
}

std::optional<uint64_t> Emulation::load(const Operand& operand, unsigned size) const {
  uint64_t value = 0;
  if (operand.in_memory)
    return read_memory(operand.address, &value, size) ? std::optional(value) : std::nullopt;
  value = register_of(r_, operand.number);
  return size == 8 ? value : value & ((uint64_t{1} << 8 * size) - 1);
}

bool Emulation::store(const Operand& operand, uint64_t value, unsigned size) {
  if (short_) return false;
  if (operand.in_memory) return write_memory(operand.address, &value, size);
  unsigned long long& to = register_of(r_, operand.number);
  to = size == 1 ? (to & ~uint64_t{0xff}) | (value & 0xff) : size == 4 ? value & UINT32_MAX : value;
  return true;
}

bool Emulation::arithmetic(unsigned operation, const Operand& left, uint64_t right) {
  if (operation == 2 || operation == 3) return false;  // adc, sbb
  auto value = load(left);
  if (!value || short_) return false;
  uint64_t flags = 0, result = *value;
  if (wide_) {
    flags = compute<uint64_t>(operation, result, right);
  } else {
    auto narrow = static_cast<uint32_t>(result);
    flags = compute<uint32_t>(operation, narrow, static_cast<uint32_t>(right));
    result = narrow;
  }
  if (operation != 7 && !store(left, result)) return false;
  set_flags(flags);
  return next();
}

bool Emulation::test(const Operand& left, uint64_t right) {
  auto value = load(left);
  if (!value || short_) return false;
  uint64_t result = *value;
  uint64_t flags = 0;
  if (wide_) {
    flags = compute<uint64_t>(4, result, right);
  } else {
    auto narrow = static_cast<uint32_t>(result);
    flags = compute<uint32_t>(4, narrow, static_cast<uint32_t>(right));
  }
  set_flags(flags);
  return next();
}

/// movzx, movsx, movsxd
bool Emulation::extend(const Operand& from, unsigned size, bool with_sign) {
  auto value = load(from, size);
  if (!value) return false;
  unsigned shift = 64 - 8 * size;
  uint64_t high = *value << shift;
  uint64_t result = with_sign ? static_cast<uint64_t>(static_cast<int64_t>(high) >> shift) : high >> shift;
  return store({false, reg_, 0}, result) && next();
}

/// popfq. Who steps himself is for the processor.
bool Emulation::pop_flags() {
  constexpr uint64_t kTrap = 0x100, kTheProgramsOwn = 0x244dd5 & ~kTrap;
  auto value = load({true, 0, r_.rsp}, 8);
  if (!value || (*value & kTrap) != 0) return false;
  r_.eflags = (r_.eflags & ~kTheProgramsOwn) | (*value & kTheProgramsOwn);
  r_.rsp += 8;
  return next();
}

bool Emulation::run_two_bytes() {
  uint8_t operation = byte();
  if (operation == 0x1f) {  // nop
    modrm(0);
    return next();
  }
  if (operation == 0xb6 || operation == 0xb7 || operation == 0xbe || operation == 0xbf) {
    Operand from = modrm(0);
    bool byte_register = !from.in_memory && operation % 2 == 0;  // may be %ah and the like
    if (byte_register && !(bounds_.called && is_byte(from))) return false;
    return extend(from, operation % 2 == 0 ? 1 : 2, operation >= 0xbe);
  }
  if ((operation & 0xf0) != 0x80) return bounds_.called && run_called_two_bytes(operation);
  return jump(signed_word(), holds(operation & 15, r_.eflags));
}

bool Emulation::run() {
  const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
  if (code_.size() >= sizeof endbr64 && std::memcmp(code_.data(), endbr64, sizeof endbr64) == 0) {
    at_ = sizeof endbr64;
    return next();
  }
  constexpr uint8_t kNoTrack = 0x3e;  // before jumps by a table
  uint8_t operation = byte();
  if (operation == kNoTrack) operation = byte();
  if ((operation & 0xf0) == 0x40) {
    has_rex_ = true;
    wide_ = (operation & 8) != 0;
    extend_reg_ = (operation & 4) != 0 ? 8 : 0;
    extend_index_ = (operation & 2) != 0 ? 8 : 0;
    extend_base_ = (operation & 1) != 0 ? 8 : 0;
    operation = byte();
  }
  switch (operation) {
    case 0x0f:
      return run_two_bytes();
    case 0x90:
      return extend_base_ == 0 && next();  // else it is an exchange
    case 0x50 ... 0x57: {
      uint64_t value = register_of(r_, (operation & 7) | extend_base_);
      wide_ = true;
      if (!store({true, 0, r_.rsp - 8}, value)) return false;
      r_.rsp -= 8;
      return next();
    }
    case 0x63:
      return wide_ && extend(modrm(0), 4, true);
    case 0x9d:
      return pop_flags();
    case 0x70 ... 0x7f:
      return jump(signed_byte(), holds(operation & 15, r_.eflags));
    case 0xeb:
      return jump(signed_byte(), true);
    case 0xe9:
      return jump(signed_word(), true);
    case 0x89: {
      Operand to = modrm(0);
      return store(to, *load({false, reg_, 0})) && next();
    }
    case 0x8b: {
      Operand from = modrm(0);
      auto value = load(from);
      return value && store({false, reg_, 0}, *value) && next();
    }
    case 0x8d: {
      Operand from = modrm(0);
      return from.in_memory && store({false, reg_, 0}, from.address) && next();
    }
    case 0xb8 ... 0xbf: {
      auto value = static_cast<uint64_t>(signed_word());
      if (wide_) value = (value & UINT32_MAX) | static_cast<uint64_t>(signed_word()) << 32;
      return store({false, (operation & 7) | extend_base_, 0}, value) && next();
    }
    case 0xc7: {
      Operand to = modrm(4);
      auto value = static_cast<uint64_t>(signed_word());
      return (reg_ & 7) == 0 && store(to, value) && next();
    }
    case 0x81: {
      Operand left = modrm(4);
      return arithmetic(reg_ & 7, left, static_cast<uint64_t>(signed_word()));
    }
    case 0x83: {
      Operand left = modrm(1);
      return arithmetic(reg_ & 7, left, static_cast<uint64_t>(signed_byte()));
    }
    case 0x01:
    case 0x09:
    case 0x21:
    case 0x29:
    case 0x31:
    case 0x39: {
      Operand left = modrm(0);
      return arithmetic(operation >> 3, left, *load({false, reg_, 0}));
    }
    case 0x03:
    case 0x0b:
    case 0x23:
    case 0x2b:
    case 0x33:
    case 0x3b: {
      Operand from = modrm(0);
      auto right = load(from);
      return right && arithmetic(operation >> 3, {false, reg_, 0}, *right);
    }
    case 0x85: {
      Operand left = modrm(0);
      return test(left, *load({false, reg_, 0}));
    }
    default:
      return bounds_.called && run_called(operation);
  }
}

namespace {

/// Behind which run() knows nothing but endbr64.
bool is_only_copied(std::span<const uint8_t> code) {
  uint8_t first = code.empty() ? 0 : code[0];
  return first == 0x66 || first == 0x2e || first == 0xf2 || first == 0xf3 || first == 0x64 || first == 0xf0 ||
         first == 0xc5 || first == 0xc4 || first == 0x62;
}

}  // namespace

bool emulate(std::span<const uint8_t> code, user_regs_struct& registers, const EmulationBounds& bounds) {
  user_regs_struct before = registers;
  auto done = [&](bool (Emulation::*run)()) {
    Emulation emulation(code, registers, bounds);
    if ((emulation.*run)()) return true;
    registers = before;
    return false;
  };
  bool any = bounds.called && is_only_copied(code)
                 ? done(&Emulation::run_copied) || done(&Emulation::run_repeated) || done(&Emulation::run)
                 : done(&Emulation::run) || (bounds.called && done(&Emulation::run_copied));
  if (any) registers.eflags &= ~kResume;
  return any;
}

}  // namespace pastcone::replay

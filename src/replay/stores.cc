#include "pastcone/replay/stores.h"

#include <algorithm>
#include <cstring>

#include "pastcone/replay/instruction_parts.h"

namespace pastcone::replay {
namespace {

constexpr uint64_t kCarry = 1, kDirection = 0x400, kTrap = 0x100;

/// Of those that have one byte.
bool can_be_locked(uint8_t operation) {
  bool plain = operation == 0x88 || operation == 0x89 || operation == 0xc6 || operation == 0xc7;
  bool stack = (operation & 0xf8) == 0x50 || operation == 0x68 || operation == 0x6a || operation == 0xe8;
  return !plain && !stack;
}

class Finder {
 public:
  Finder(std::span<const uint8_t> code, user_regs_struct& registers, const StoreContext& context,
         Store& store)
      : code_(code), r_(registers), context_(context), store_(store) {}

  bool run();

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
  /// Even operations are about bytes.
  unsigned width(uint8_t operation = 1) const { return operation % 2 == 0 ? 1 : wide_ ? 8 : narrow_ ? 2 : 4; }
  unsigned immediate(unsigned size) const { return std::min(size, 4U); }

  bool prefixes();
  /// Of the operand in memory; false: there is none. `after`: bytes of the instruction behind it.
  bool modrm(unsigned after);
  /// The other operand.
  uint64_t source(unsigned size) const;
  bool put_register(unsigned size, uint64_t value);
  bool load(uint64_t& value, unsigned size) const { return !short_ && context_.read(address_, &value, size); }
  bool put(uint64_t value, unsigned size);
  bool arithmetic(unsigned operation, uint64_t right, unsigned size);
  bool count(bool down, unsigned size);
  bool push(uint64_t value);
  bool call(uint64_t target);
  bool exchange(unsigned size, bool adds);
  bool vector(uint8_t operation, unsigned kind, bool upper);
  bool vex(uint8_t first);
  bool two_bytes();
  bool repeat(uint8_t operation);
  bool next() {
    if (short_) return false;
    r_.rip += at_;
    return true;
  }

  std::span<const uint8_t> code_;
  user_regs_struct& r_;
  const StoreContext& context_;
  Store& store_;
  size_t at_ = 0;
  bool short_ = false, wide_ = false, narrow_ = false, rex_ = false, locked_ = false;
  uint8_t repeat_ = 0;
  uint64_t segment_ = 0, address_ = 0;
  unsigned reg_high_ = 0, index_high_ = 0, base_high_ = 0;  ///< 8 or 0
  unsigned reg_ = 0;                                        ///< the other field of the ModRM byte
};

bool Finder::prefixes() {
  for (;; ++at_) {
    uint8_t next = at_ < code_.size() ? code_[at_] : 0;
    switch (next) {
      case 0x66:
        narrow_ = true;
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
      case 0xf0:
        locked_ = true;
        break;
      case 0x2e:
      case 0x3e:
        break;
      case 0x67:
        return false;
      default:
        if ((next & 0xf0) != 0x40) return true;
        rex_ = true;
        wide_ = (next & 8) != 0;
        reg_high_ = (next & 4) != 0 ? 8 : 0;
        index_high_ = (next & 2) != 0 ? 8 : 0;
        base_high_ = (next & 1) != 0 ? 8 : 0;
        ++at_;
        return true;
    }
  }
}

bool Finder::modrm(unsigned after) {
  uint8_t form = byte();
  unsigned mode = form >> 6, low = form & 7;
  reg_ = (form >> 3 & 7) | reg_high_;
  if (mode == 3) return false;
  uint64_t address = 0;
  bool relative = mode == 0 && low == 5;
  if (low == 4) {
    uint8_t scaled = byte();
    unsigned index = (scaled >> 3 & 7) | index_high_, base = scaled & 7;
    if (index != 4) address = register_of(r_, index) << (scaled >> 6);
    address += mode == 0 && base == 5 ? static_cast<uint64_t>(number(4)) : register_of(r_, base | base_high_);
  } else if (!relative) {
    address = register_of(r_, low | base_high_);
  }
  if (mode == 1) address += static_cast<uint64_t>(number(1));
  if (mode == 2) address += static_cast<uint64_t>(number(4));
  if (relative) {
    auto distance = static_cast<uint64_t>(number(4));
    address = r_.rip + at_ + after + distance;
  }
  address_ = address + segment_;
  return true;
}

uint64_t Finder::source(unsigned size) const {
  if (size == 1 && !rex_ && reg_ >= 4) return (register_of(r_, reg_ - 4) >> 8) & 0xff;  // %ah and the like
  uint64_t value = register_of(r_, reg_);
  return size == 8 ? value : value & ((uint64_t{1} << 8 * size) - 1);
}

bool Finder::put_register(unsigned size, uint64_t value) {
  if (size == 1 && !rex_ && reg_ >= 4) return false;
  unsigned long long& to = register_of(r_, reg_);
  if (size >= 4) {
    to = size == 8 ? value : value & UINT32_MAX;
    return true;
  }
  uint64_t mask = (uint64_t{1} << 8 * size) - 1;
  to = (to & ~mask) | (value & mask);
  return true;
}

bool Finder::put(uint64_t value, unsigned size) {
  if (short_) return false;
  store_.address = address_;
  store_.size = size;
  std::memcpy(store_.bytes.data(), &value, size);
  return true;
}

template <typename Word>
static uint64_t compute_narrow(unsigned operation, uint64_t& left, uint64_t right) {
  auto value = static_cast<Word>(left);
  uint64_t flags = compute<Word>(operation, value, static_cast<Word>(right));
  left = value;
  return flags;
}

static uint64_t compute_of(unsigned size, unsigned operation, uint64_t& left, uint64_t right) {
  switch (size) {
    case 1:
      return compute_narrow<uint8_t>(operation, left, right);
    case 2:
      return compute_narrow<uint16_t>(operation, left, right);
    case 4:
      return compute_narrow<uint32_t>(operation, left, right);
    default:
      return compute_narrow<uint64_t>(operation, left, right);
  }
}

bool Finder::arithmetic(unsigned operation, uint64_t right, unsigned size) {
  if (operation == 2 || operation == 3 || operation == 7) return false;  // adc, sbb; cmp writes nothing
  uint64_t value = 0;
  if (!load(value, size)) return false;
  uint64_t flags = compute_of(size, operation, value, right);
  if (!put(value, size)) return false;
  r_.eflags = (r_.eflags & ~kArithmeticFlags) | flags;
  return next();
}

/// inc, dec: as an addition, which leaves the carry alone.
bool Finder::count(bool down, unsigned size) {
  uint64_t carry = r_.eflags & kCarry;
  if (!arithmetic(down ? 5 : 0, 1, size)) return false;
  r_.eflags = (r_.eflags & ~kCarry) | carry;
  return true;
}

bool Finder::push(uint64_t value) {
  address_ = r_.rsp - 8;
  if (narrow_ || !put(value, 8)) return false;
  r_.rsp -= 8;
  return next();
}

bool Finder::call(uint64_t target) {
  if (!push(r_.rip + at_)) return false;
  r_.rip = target;
  return true;
}

/// xchg, xadd
bool Finder::exchange(unsigned size, bool adds) {
  uint64_t value = 0;
  uint64_t other = source(size);
  if (!load(value, size)) return false;
  uint64_t sum = value, flags = r_.eflags;
  if (adds) flags = (flags & ~kArithmeticFlags) | compute_of(size, 0, sum, other);
  if (!put(adds ? sum : other, size) || !put_register(size, value)) return false;
  r_.eflags = flags;
  return next();
}

/// Of a vector register. `kind`: the prefix, 0, 0x66, 0xf3 or 0xf2.
bool Finder::vector(uint8_t operation, unsigned kind, bool upper) {
  size_t size = upper ? 32 : 16, from = 0;
  bool aligned = false;
  switch (operation) {
    case 0x11:
      if (kind == 0xf3) size = 4;
      if (kind == 0xf2) size = 8;
      break;
    case 0x13:
    case 0x17:
      if (kind == 0xf3 || kind == 0xf2 || upper) return false;
      size = 8;
      from = operation == 0x17 ? 8 : 0;
      break;
    case 0x29:
    case 0x2b:
      if (kind == 0xf3 || kind == 0xf2) return false;
      aligned = true;
      break;
    case 0x7e:
      if (kind != 0x66 || upper) return false;
      size = wide_ ? 8 : 4;
      break;
    case 0x7f:
      if (kind != 0x66 && kind != 0xf3) return false;
      aligned = kind == 0x66;
      break;
    case 0xd6:
      if (kind != 0x66 || upper) return false;
      size = 8;
      break;
    case 0xe7:
      if (kind != 0x66) return false;
      aligned = true;
      break;
    default:
      return false;
  }
  uint8_t whole[32];
  bool there = modrm(0) && !short_ && !(aligned && address_ % size != 0);
  if (!there || !context_.vector(reg_, whole, upper ? 32 : 16)) return false;
  store_.address = address_;
  store_.size = size;
  std::memcpy(store_.bytes.data(), whole + from, size);
  return next();
}

bool Finder::vex(uint8_t first) {
  if (rex_ || narrow_ || repeat_ != 0 || locked_) return false;
  uint8_t second = byte(), last = second;
  reg_high_ = (second & 0x80) == 0 ? 8 : 0;
  if (first == 0xc4) {
    index_high_ = (second & 0x40) == 0 ? 8 : 0;
    base_high_ = (second & 0x20) == 0 ? 8 : 0;
    if ((second & 31) != 1) return false;
    last = byte();
    wide_ = (last & 0x80) != 0;
  }
  if ((last & 0x78) != 0x78) return false;  // a second source, which stores have not
  const unsigned kinds[] = {0, 0x66, 0xf3, 0xf2};
  uint8_t operation = byte();
  bool upper = (last & 4) != 0, scalar = operation == 0x11 && (last & 3) >= 2;
  return vector(operation, kinds[last & 3], upper && !scalar);
}

bool Finder::two_bytes() {
  uint8_t operation = byte();
  if (operation >= 0x90 && operation <= 0x9f && !locked_)
    return modrm(0) && put(holds(operation & 15, r_.eflags) ? 1 : 0, 1) && next();
  if (operation == 0xc0 || operation == 0xc1) return modrm(0) && exchange(width(operation), true);
  if (locked_) return false;
  if (operation == 0xc3)
    return !narrow_ && repeat_ == 0 && modrm(0) && put(source(width()), width()) && next();
  return vector(operation, repeat_ != 0 ? repeat_ : narrow_ ? 0x66 : 0, false);
}

/// movs, stos
bool Finder::repeat(uint8_t operation) {
  bool copies = operation == 0xa4 || operation == 0xa5;
  unsigned size = width(operation);
  bool down = (r_.eflags & kDirection) != 0, segment = segment_ != 0;
  uint64_t rounds = repeat_ == 0 ? 1 : r_.rcx, to = r_.rdi, in_page = to % Store::kPage;
  uint64_t fit = down ? in_page / size + 1 : (Store::kPage - in_page) / size;
  if (segment || short_ || in_page + size > Store::kPage) return false;
  rounds = std::min(rounds, fit);
  if (uint64_t apart = down ? r_.rsi - to : to - r_.rsi; copies && apart != 0)
    rounds = std::min(rounds, std::max<uint64_t>(apart / size, 1));  // what it has written it may read
  if (rounds == 0) return false;
  auto place = [&](uint64_t base, uint64_t round) {
    return down ? base - round * size : base + round * size;
  };
  for (uint64_t i = 0; i < rounds; ++i)
    if (context_.told(place(to, i), size)) rounds = i + 1;
  uint64_t last = rounds - 1;
  store_.address = down ? place(to, last) : to;
  store_.size = rounds * size;
  if (copies) {
    if (!context_.read(down ? place(r_.rsi, last) : r_.rsi, store_.bytes.data(), store_.size)) return false;
  } else {
    uint64_t value = r_.rax;
    for (uint64_t i = 0; i < rounds; ++i) std::memcpy(store_.bytes.data() + i * size, &value, size);
  }
  r_.rdi = place(to, rounds);
  if (copies) r_.rsi = place(r_.rsi, rounds);
  if (repeat_ == 0) return next();
  r_.rcx -= rounds;
  return r_.rcx != 0 || next();
}

bool Finder::run() {
  if ((r_.eflags & kTrap) != 0 || !prefixes()) return false;  // who steps himself is for the processor
  uint8_t operation = byte();
  unsigned size = width(operation);
  if (operation == 0xc4 || operation == 0xc5) return vex(operation);
  if (operation == 0x0f) return two_bytes();
  if (operation == 0xa4 || operation == 0xa5 || operation == 0xaa || operation == 0xab)
    return !locked_ && repeat(operation);
  if (repeat_ != 0) return false;
  if (locked_ && !can_be_locked(operation)) return false;
  switch (operation) {
    case 0x50 ... 0x57:
      return push(register_of(r_, (operation & 7) | base_high_));
    case 0x68:
      return push(static_cast<uint64_t>(number(4)));
    case 0x6a:
      return push(static_cast<uint64_t>(number(1)));
    case 0xe8: {
      auto distance = static_cast<uint64_t>(number(4));
      return call(r_.rip + at_ + distance);
    }
    case 0x88:
    case 0x89:
      return modrm(0) && put(source(size), size) && next();
    case 0xc6:
    case 0xc7: {
      if (!modrm(immediate(size)) || (reg_ & 7) != 0) return false;
      return put(static_cast<uint64_t>(number(immediate(size))), size) && next();
    }
    case 0x80:
    case 0x81: {
      if (!modrm(immediate(size))) return false;
      return arithmetic(reg_ & 7, static_cast<uint64_t>(number(immediate(size))), size);
    }
    case 0x83:
      return modrm(1) && arithmetic(reg_ & 7, static_cast<uint64_t>(number(1)), size);
    case 0x00:
    case 0x01:
    case 0x08:
    case 0x09:
    case 0x20:
    case 0x21:
    case 0x28:
    case 0x29:
    case 0x30:
    case 0x31:
      return modrm(0) && arithmetic(operation >> 3, source(size), size);
    case 0x86:
    case 0x87:
      return modrm(0) && exchange(size, false);
    case 0xfe:
    case 0xff:
      return modrm(0) && (reg_ & 7) < 2 && count((reg_ & 7) == 1, size);
    default:
      return false;
  }
}

}  // namespace

bool find_store(std::span<const uint8_t> code, user_regs_struct& registers, const StoreContext& context,
                Store& store) {
  user_regs_struct before = registers;
  if (Finder(code, registers, context, store).run()) {
    registers.eflags &= ~kResume;
    return true;
  }
  registers = before;
  return false;
}

}  // namespace pastcone::replay

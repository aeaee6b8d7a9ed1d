#include "operand.h"

namespace pastcone::runtime {
namespace {

bool is_prefix(u8 b) {
  return b == 0x66 || b == 0x67 || b == 0xf0 || b == 0xf2 || b == 0xf3 || b == 0x64 || b == 0x65 || b == 0x2e || b == 0x36 ||
         b == 0x3e || b == 0x26;
}

/// One-byte opcodes with a ModRM byte; lea does not count.
bool has_operand(u8 op) {
  if (op < 0x40) return (op & 0xc4) == 0;
  return op == 0x63 || op == 0x69 || op == 0x6b || (op >= 0x80 && op <= 0x8f && op != 0x8d) || op == 0xc0 || op == 0xc1 ||
         op == 0xc6 || op == 0xc7 || (op >= 0xd0 && op <= 0xd3) || (op >= 0xd8 && op <= 0xdf) || op == 0xf6 || op == 0xf7 ||
         op >= 0xfe;
}
bool has_operand_0f(u8 op) {
  return !(op < 0x10 || op == 0x18 || op == 0x1e || op == 0x1f || (op >= 0x30 && op < 0x38) || op == 0x77 ||
           (op >= 0x80 && op < 0x90) || (op >= 0xa0 && op <= 0xa2) || (op >= 0xa8 && op <= 0xaa) || op >= 0xc8);
}
u32 immediate(u32 map, u8 op, u8 modrm, bool word) {
  if (map == 3) return 1;
  if (map == 1) return (op >= 0x70 && op <= 0x73) || op == 0xa4 || op == 0xac || op == 0xba || (op >= 0xc2 && op <= 0xc6) ? 1 : 0;
  if (map == 2) return 0;
  u8 extension = modrm >> 3 & 7;
  if (op == 0x80 || op == 0x83 || op == 0x6b || op == 0xc0 || op == 0xc1 || op == 0xc6) return 1;
  if (op == 0x81 || op == 0x69 || op == 0xc7) return word ? 2 : 4;
  if (op == 0xf6 && extension < 2) return 1;
  if (op == 0xf7 && extension < 2) return word ? 2 : 4;
  return 0;
}

}  // namespace

bool memory_operand(const Machine& m, u64& address) {
  u32 at = 0;
  u64 segment = 0;
  bool word = false;
  while (at < 8 && is_prefix(m.code[at])) {
    if (m.code[at] == 0x64) segment = m.fs;
    if (m.code[at] == 0x65 || m.code[at] == 0x67) return false;
    word |= m.code[at] == 0x66;
    ++at;
  }
  u8 rex = 0;
  u32 map = 0;
  if ((m.code[at] & 0xf0) == 0x40) rex = m.code[at++];
  u8 op = m.code[at++];
  if (op == 0xc5 || op == 0xc4) {  // VEX
    map = 1;
    if (op == 0xc4) {
      map = m.code[at] & 0x1f;
      rex = (u8)((~m.code[at] >> 5 & 1) | (~m.code[at] >> 6 & 1) << 1);  // B, X
      ++at;
    }
    ++at;
    op = m.code[at++];
    if (map < 1 || map > 3) return false;
  } else if (op == 0x0f) {
    map = 1;
    op = m.code[at++];
    if (op == 0x38 || op == 0x3a) {
      map = op == 0x38 ? 2 : 3;
      op = m.code[at++];
    }
  }
  if (!map && (op == 0xa4 || op == 0xa5 || op == 0xaa || op == 0xab)) {
    address = m.general[7];
    return true;
  }
  if (map == 0 ? !has_operand(op) : map == 1 && !has_operand_0f(op)) return false;
  u8 modrm = m.code[at++], mode = modrm >> 6, rm = modrm & 7;
  if (mode == 3) return false;
  u64 base;
  bool relative = false;
  if (rm == 4) {
    u8 sib = m.code[at++];
    u32 index = (sib >> 3 & 7) | (rex & 2) << 2, from = (sib & 7) | (rex & 1) << 3;
    bool no_base = mode == 0 && (sib & 7) == 5;
    base = no_base ? 0 : m.general[from];
    if (index != 4) base += m.general[index] << (sib >> 6);
    if (no_base) mode = 2;
  } else if (mode == 0 && rm == 5) {
    relative = true;
    mode = 2;
    base = 0;
  } else {
    base = m.general[rm | (rex & 1) << 3];
  }
  if (mode == 1) {
    base += (u64)(i64)(int8_t)m.code[at++];
  } else if (mode == 2) {
    if (at + 4 > sizeof m.code) return false;
    i32 displacement;
    memcpy(&displacement, m.code + at, 4);
    at += 4;
    base += (u64)(i64)displacement;
  }
  if (relative) base += m.rip + at + immediate(map, op, modrm, word);
  address = base + segment;
  return true;
}

u32 repeated_length(const u8* code) {
  bool repeat = false;
  u32 at = 0;
  while (at < 8 && is_prefix(code[at])) {
    repeat |= code[at] == 0xf2 || code[at] == 0xf3;
    ++at;
  }
  if ((code[at] & 0xf0) == 0x40) ++at;
  u8 op = code[at];
  return repeat && ((op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf)) ? at + 1 : 0;
}

bool is_pushf(const u8* code) { return code[0] == 0x9c || (code[0] == 0x66 && code[1] == 0x9c); }

}  // namespace pastcone::runtime

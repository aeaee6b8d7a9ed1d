#include "pastcone/replay/instruction_copies.h"

#include <sys/mman.h>

#include <cstddef>
#include <cstring>
#include <initializer_list>

namespace pastcone::replay {
namespace {

constexpr size_t kRoom = 1 << 18;
// Where xsave has them.
constexpr uint8_t kSavedControl = 24, kSavedVectors = 160;

constexpr auto kReg = static_cast<uint8_t>(offsetof(CopiedOperands, reg)),
               kRm = static_cast<uint8_t>(offsetof(CopiedOperands, rm)),
               kRax = static_cast<uint8_t>(offsetof(CopiedOperands, rax)),
               kRcx = static_cast<uint8_t>(offsetof(CopiedOperands, rcx)),
               kFlags = static_cast<uint8_t>(offsetof(CopiedOperands, flags)),
               kComponents = static_cast<uint8_t>(offsetof(CopiedOperands, components)),
               kControl = static_cast<uint8_t>(offsetof(CopiedOperands, control)),
               kThird = static_cast<uint8_t>(offsetof(CopiedOperands, third)),
               kMemory = static_cast<uint8_t>(offsetof(CopiedOperands, memory));
static_assert(kMemory == 64 && kThird < 64);

}  // namespace

InstructionCopies& InstructionCopies::instance() {
  static InstructionCopies copies;
  return copies;
}

InstructionCopies::InstructionCopies() : has_avx_(__builtin_cpu_supports("avx")) {
  void* room = mmap(nullptr, kRoom, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (room != MAP_FAILED) room_ = static_cast<uint8_t*>(room);
}

/// A function of the operands (rdi) and the vectors (rsi). It changes what functions may change.
std::vector<uint8_t> InstructionCopies::surround(const CopiedCode& copy,
                                                 const CopiedSurroundings& around) const {
  using Vectors = CopiedSurroundings::Vectors;
  std::vector<uint8_t> code;
  auto add = [&](std::initializer_list<uint8_t> bytes) { code.insert(code.end(), bytes); };
  auto add_components = [&] {
    add({0x8b, 0x47, kComponents});      // mov components(%rdi), %eax
    add({0x8b, 0x57, kComponents + 4});  // mov components+4(%rdi), %edx
  };
  auto add_named = [&](uint8_t operation) {
    for (uint8_t number : around.named) {
      if (number >= 16) continue;
      auto place = static_cast<uint16_t>(kSavedVectors + 16 * number);
      // movups of xmm and place(%rsi)
      add({static_cast<uint8_t>(number < 8 ? 0x40 : 0x44), 0x0f, operation,
           static_cast<uint8_t>(0x86 | (number & 7) << 3), static_cast<uint8_t>(place),
           static_cast<uint8_t>(place >> 8), 0, 0});
    }
  };
  if (around.vectors != Vectors::kNone) add({0x0f, 0xae, 0x5f, kControl});  // stmxcsr control(%rdi)
  if (around.vectors == Vectors::kNamed) {
    add({0x0f, 0xae, 0x56, kSavedControl});  // ldmxcsr 24(%rsi)
    add_named(0x10);
  } else if (around.vectors == Vectors::kAll) {
    add_components();
    add({0x48, 0x0f, 0xae, 0x2e});  // xrstor64 (%rsi)
  }
  add({0x4c, 0x8b, 0x47, kReg});                      // mov reg(%rdi), %r8
  add({0x4c, 0x8b, 0x4f, kRm});                       // mov rm(%rdi), %r9
  if (around.third) add({0x4c, 0x8b, 0x5f, kThird});  // mov third(%rdi), %r11
  add({0x4c, 0x8d, 0x57, kMemory});                   // lea memory(%rdi), %r10
  add({0x48, 0x8b, 0x47, kRax});                      // mov rax(%rdi), %rax
  add({0x48, 0x8b, 0x4f, kRcx});                      // mov rcx(%rdi), %rcx
  if (around.flags) add({0xff, 0x77, kFlags, 0x9d});  // push flags(%rdi); popf
  code.insert(code.end(), copy.bytes.begin(), copy.bytes.begin() + copy.size);
  if (around.flags) add({0x9c, 0x8f, 0x47, kFlags});  // pushf; pop flags(%rdi)
  add({0x4c, 0x89, 0x47, kReg});                      // mov %r8, reg(%rdi)
  add({0x4c, 0x89, 0x4f, kRm});                       // mov %r9, rm(%rdi)
  if (around.third) add({0x4c, 0x89, 0x5f, kThird});  // mov %r11, third(%rdi)
  if (around.vectors == Vectors::kNamed) {
    add_named(0x11);
    add({0x0f, 0xae, 0x5e, kSavedControl});  // stmxcsr 24(%rsi)
  } else if (around.vectors == Vectors::kAll) {
    add_components();
    add({0x48, 0x0f, 0xae, 0x26});          // xsave64 (%rsi)
    if (has_avx_) add({0xc5, 0xf8, 0x77});  // vzeroupper
  }
  if (around.vectors != Vectors::kNone) add({0x0f, 0xae, 0x57, kControl});  // ldmxcsr control(%rdi)
  add({0xc3});
  return code;
}

size_t InstructionCopies::Hash::operator()(const CopiedCode& copy) const {
  uint64_t words[2];
  std::memcpy(words, copy.bytes.data(), sizeof words);
  constexpr uint64_t kMix = 0x9e3779b97f4a7c15;
  uint64_t mixed = (words[0] ^ words[0] >> 32) * kMix + words[1];
  return (mixed ^ mixed >> 32) * kMix >> 32;
}

InstructionCopies::Code InstructionCopies::make(const CopiedCode& copy, const CopiedSurroundings& around) {
  if (room_ == nullptr) return nullptr;
  std::vector<uint8_t> code = surround(copy, around);
  if (used_ + code.size() > kRoom) {
    known_.clear();
    used_ = 0;
  }
  if (mprotect(room_, kRoom, PROT_READ | PROT_WRITE) != 0) return nullptr;
  uint8_t* place = room_ + used_;
  std::memcpy(place, code.data(), code.size());
  if (mprotect(room_, kRoom, PROT_READ | PROT_EXEC) != 0) return nullptr;
  used_ += code.size();
  return reinterpret_cast<Code>(place);
}

bool InstructionCopies::run(const CopiedCode& copy, const CopiedSurroundings& around,
                            CopiedOperands& operands, uint8_t* vectors) {
  auto known = known_.find(copy);
  if (known == known_.end()) {
    Code code = make(copy, around);
    if (code == nullptr) return false;
    known = known_.emplace(copy, code).first;
  }
  known->second(&operands, vectors);
  return true;
}

}  // namespace pastcone::replay

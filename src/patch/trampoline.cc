#include "pastcone/patch/trampoline.h"

#include <algorithm>
#include <cstring>

#include "pastcone/patch/elf_image.h"

namespace pastcone::patch {
namespace {

constexpr uint8_t kNop = 0x90;
constexpr uint8_t kInt3 = 0xcc;

extern "C" const uint8_t pastcone_fast_lock[], pastcone_fast_lock_end[], pastcone_fast_unlock[],
    pastcone_fast_unlock_end[];

/// Code in front of the way to the runtime; mostly none.
ByteView fast_path(Hook hook) {
  if (hook == Hook::pthread_mutex_lock) return {pastcone_fast_lock, pastcone_fast_lock_end};
  if (hook == Hook::pthread_mutex_unlock) return {pastcone_fast_unlock, pastcone_fast_unlock_end};
  return {};
}

bool fits(int64_t distance) { return distance == static_cast<int32_t>(distance); }

}  // namespace

TrampolineArea::TrampolineArea(uint64_t address, uint64_t capacity) : address_(address), capacity_(capacity) {
  put_u64(kInstructionEntry);
  code_.resize(kFirst, kInt3);
}

std::optional<uint64_t> TrampolineArea::add(const Displacement& group, ByteView text) {
  size_t old_size = code_.size(), old_origins = origins_.size();
  code_.resize((old_size + kAlignment - 1) / kAlignment * kAlignment, kInt3);
  uint64_t start = here();
  reachable_ = fits(static_cast<int64_t>(start - (group.start + kJumpSize)));
  put_all_moved(group.before, group, text);
  note_origin(group.site);
  if (group.site.kind() == Kind::kSyscall) {
    put_syscall(group.site);
  } else {
    put_instruction(group.site.descriptor);
  }
  put_all_moved(group.after, group, text);
  if (group.falls_through) {
    origins_.push_back({here(), group.end});
    put_jump(group.end);
  }
  if (reachable_ && code_.size() <= capacity_) return start;
  code_.resize(old_size);
  origins_.resize(old_origins);
  return std::nullopt;
}

std::optional<TrampolineArea::Entry> TrampolineArea::add_hook(const Displacement& group, ByteView text, Hook hook) {
  size_t old_size = code_.size(), old_origins = origins_.size();
  code_.resize((old_size + kAlignment - 1) / kAlignment * kAlignment, kInt3);
  Entry entry{here(), 0};
  reachable_ = fits(static_cast<int64_t>(entry.jump - (group.start + kJumpSize)));
  origins_.push_back({here(), group.start});
  for (uint8_t byte : fast_path(hook)) code_.push_back(byte);
  put({0x49, 0xbb});  // movabs $slot,%r11
  put_u64(kHookTable + sizeof(uint64_t) * static_cast<uint64_t>(hook));
  put({0x41, 0xff, 0x23});  // jmp *(%r11)
  code_.resize((code_.size() + kAlignment - 1) / kAlignment * kAlignment, kInt3);
  entry.original = here();
  put_all_moved(group.before, group, text);
  if (group.falls_through) {
    origins_.push_back({here(), group.end});
    put_jump(group.end);
  } else {
    put({0x0f, 0x0b});  // ud2: nobody comes here
  }
  if (reachable_ && code_.size() <= capacity_) return entry;
  code_.resize(old_size);
  origins_.resize(old_origins);
  return std::nullopt;
}

Bytes TrampolineArea::take() {
  if (empty()) return {};
  code_.resize(page_ceil(code_.size()), kInt3);
  return std::move(code_);
}

void TrampolineArea::put_u32(uint32_t value) {
  for (int shift = 0; shift < 32; shift += 8) code_.push_back(static_cast<uint8_t>(value >> shift));
}

void TrampolineArea::put_u64(uint64_t value) {
  put_u32(static_cast<uint32_t>(value));
  put_u32(static_cast<uint32_t>(value >> 32));
}

/// The distance to `target` that ends an instruction.
void TrampolineArea::put_relative(uint64_t target) {
  auto distance = static_cast<int64_t>(target - (here() + 4));
  reachable_ = reachable_ && fits(distance);
  put_u32(static_cast<uint32_t>(distance));
}

void TrampolineArea::put_jump(uint64_t target) {
  put({0xe9});
  put_relative(target);
}

void TrampolineArea::put_moved(const Instruction& instruction, ByteView bytes) {
  if (instruction.flow == Flow::kJump) return put_jump(instruction.target);
  if (instruction.flow == Flow::kBranch) {
    put({0x0f, static_cast<uint8_t>(0x80 | instruction.condition)});
    return put_relative(instruction.target);
  }
  if (instruction.is_call) {  // the first in its function, where %r11 is nobody's
    put({0x4c, 0x8d, 0x1d});  // lea end(%rip),%r11
    put_relative(instruction.end());
    put({0x41, 0x53});  // push %r11
    return put_jump(instruction.target);
  }
  uint64_t new_end = here() + instruction.length;
  size_t at = code_.size();
  code_.insert(code_.end(), bytes.begin(), bytes.end());
  if (instruction.displacement_at == 0) return;
  auto distance = static_cast<int64_t>(instruction.reference - new_end);
  reachable_ = reachable_ && fits(distance);
  auto displacement = static_cast<int32_t>(distance);
  std::memcpy(code_.data() + at + instruction.displacement_at, &displacement, sizeof displacement);
}

void TrampolineArea::put_all_moved(std::span<const Instruction> instructions, const Displacement& group,
                                   ByteView text) {
  for (const Instruction& instruction : instructions) {
    note_origin(instruction);
    put_moved(instruction, text.subspan(instruction.address - group.start, instruction.length));
  }
}

void TrampolineArea::put_syscall(const Instruction& site) {
  put({0x48, 0x8d, 0x0d, 21, 0, 0, 0});  // lea 21(%rip),%rcx: behind all this
  put({0x49, 0xbb});                     // movabs $entry,%r11
  put_u64(kSyscallEntry);
  put({0x41, 0xff, 0xe3});  // jmp *%r11
  put_u32(kReturnMark);
  put_relative(site.end());
}

void TrampolineArea::put_instruction(Descriptor descriptor) {
  put({0x48, 0x8d, 0x64, 0x24, 0x80});  // lea -128(%rsp),%rsp: keeps flags and red zone
  put({0x9c});                          // pushfq
  for (uint8_t r = 8; r-- > 0;) put({0x41, static_cast<uint8_t>(0x50 | r)});  // push %r15 … %r8
  for (uint8_t r = 8; r-- > 0;) put({static_cast<uint8_t>(0x50 | r)});        // push %rdi … %rax
  put({0x48, 0x8d, 0x0d, 11, 0, 0, 0});  // lea 11(%rip),%rcx: behind the jump
  put({0xbf});                           // mov $descriptor,%edi
  put_u32(descriptor);
  put({0xff, 0x25});  // jmp *entry(%rip)
  put_relative(address_);
  for (uint8_t r = 0; r < 8; ++r) {  // pop %rax … %rdi, but step over %rsp: pop %rsp would load it
    r == 4 ? put({0x48, 0x8d, 0x64, 0x24, 0x08}) : put({static_cast<uint8_t>(0x58 | r)});
  }
  for (uint8_t r = 0; r < 8; ++r) put({0x41, static_cast<uint8_t>(0x58 | r)});  // pop %r8 … %r15
  put({0x9d});                                                                  // popfq
  put({0x48, 0x8d, 0xa4, 0x24, 0x80, 0, 0, 0});                                 // lea 128(%rsp),%rsp
}

void write_jump(std::span<uint8_t> text, const Displacement& group, uint64_t trampoline) {
  auto distance = static_cast<int32_t>(trampoline - (group.start + kJumpSize));
  text[0] = 0xe9;
  std::memcpy(text.data() + 1, &distance, sizeof distance);
  std::ranges::fill(text.subspan(kJumpSize, group.end - group.start - kJumpSize), kNop);
}

}  // namespace pastcone::patch

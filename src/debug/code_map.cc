#include "pastcone/debug/code_map.h"

#include <cstddef>
#include <utility>

#include "pastcone/patch/abi.h"
#include "pastcone/patch/thread_abi.h"

namespace pastcone::debug {
namespace {

/// What the runtime keeps of the program's registers (src/runtime/frame.h).
struct Frame {
  uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8, rax, rcx, rdx, rsi, rdi;
  uint64_t number, full, rip, flags, rsp;
};

std::optional<Frame> read_frame(const user_regs_struct& now, const CodeMap::Read& read) {
  uint64_t address = 0;
  Frame frame{};
  if (!read(now.gs_base + THREAD_FRAME, &address, sizeof address) || address == 0) return {};
  if (!read(address, &frame, sizeof frame) || frame.rip == 0) return {};
  return frame;
}

/// Behind the instruction that a trampoline stands for, if the trampoline says so.
uint64_t behind_instruction(uint64_t rip, const CodeMap::Read& read) {
  struct {
    uint32_t mark;
    int32_t distance;
  } note{};
  if (!read(rip - sizeof note, &note, sizeof note) || note.mark != patch::kReturnMark) return rip;
  return rip + static_cast<uint64_t>(int64_t{note.distance});
}

}  // namespace

symbols::Registers as_dwarf(const user_regs_struct& from) {
  return {{from.rax, from.rdx, from.rcx, from.rbx, from.rsi, from.rdi, from.rbp, from.rsp, from.r8, from.r9,
           from.r10, from.r11, from.r12, from.r13, from.r14, from.r15, from.rip}};
}

bool in_runtime(uint64_t address) { return address >= patch::kRuntimeBase && address < patch::kRuntimeEnd; }

void CodeMap::look(pid_t process) {
  std::string text = symbols::read_maps(process).value_or("");
  if (std::exchange(maps_, text) == text) return;
  trampolines_.clear();
  patched_.clear();
  std::vector<symbols::Mapping> mappings = symbols::parse_mappings(text);
  for (const symbols::Mapping& mapping : mappings) {
    if (!mapping.executable || mapping.file.empty()) continue;
    auto [found, is_new] = files_.try_emplace(mapping.file);
    if (is_new) found->second = symbols::Origins::read(mapping.file);
    if (!found->second) continue;
    auto& areas = found->second->is_trampoline(mapping.offset) ? trampolines_ : patched_;
    areas.push_back({mapping.start, mapping.end, mapping.offset, &*found->second});
  }
  if (runtime_) return;
  std::erase_if(mappings, [](const symbols::Mapping& mapping) { return !in_runtime(mapping.start); });
  runtime_ = std::make_shared<symbols::Symbols>(mappings);
}

bool CodeMap::in_trampoline(uint64_t address) const {
  for (const Area& area : trampolines_)
    if (address >= area.begin && address < area.end) return true;
  return false;
}

/// The instruction that it stands for.
uint64_t CodeMap::leave_trampoline(uint64_t address) const {
  for (const Area& area : trampolines_) {
    if (address < area.begin || address >= area.end) continue;
    auto offset = area.origins->original(area.offset + (address - area.begin));
    for (const Area& code : patched_) {
      bool there = offset && code.origins == area.origins && *offset >= code.offset &&
                   *offset - code.offset < code.end - code.begin;
      if (there) return code.begin + (*offset - code.offset);
    }
  }
  return address;
}

std::optional<user_regs_struct> CodeMap::registers_of_program(const user_regs_struct& now,
                                                              const Read& read) const {
  if (!in_runtime(now.rip)) return {};
  std::optional<Frame> frame = read_frame(now, read);
  if (!frame) return unwound(now, read);
  user_regs_struct program = now;
  program.r15 = frame->r15, program.r14 = frame->r14, program.r13 = frame->r13, program.r12 = frame->r12;
  program.rbp = frame->rbp, program.rbx = frame->rbx, program.r11 = frame->r11, program.r10 = frame->r10;
  program.r9 = frame->r9, program.r8 = frame->r8, program.rax = frame->rax, program.rcx = frame->rcx;
  program.rdx = frame->rdx, program.rsi = frame->rsi, program.rdi = frame->rdi;
  program.orig_rax = frame->number;
  program.rip = leave_trampoline(behind_instruction(frame->rip, read));
  program.rsp = frame->rsp;
  program.eflags = frame->flags;
  if (frame->full == 0) program.rcx = program.rip, program.r11 = program.eflags;
  return program;
}

/// The runtime was called by the program, and returns to it: in the place of a function of libc.
std::optional<user_regs_struct> CodeMap::unwound(const user_regs_struct& now, const Read& read) const {
  if (!runtime_) return {};
  auto caller = runtime_->leave(
      as_dwarf(now), [&](uint64_t address, uint64_t& word) { return read(address, &word, sizeof word); }, in_runtime);
  if (!caller) return {};
  user_regs_struct program = now;
  const uint64_t* values = caller->values;
  program.rbx = values[3], program.rbp = values[6], program.rsp = values[7];
  program.r12 = values[12], program.r13 = values[13], program.r14 = values[14], program.r15 = values[15];
  program.rip = behind_instruction(values[symbols::Registers::kRip], read);
  return program;
}

uint64_t CodeMap::return_address(const user_regs_struct& now, const Read& read) {
  if (now.rip == patch::kSyscallEntry || now.rip == patch::kInstructionEntry) return now.rcx;  // nothing is saved yet
  std::optional<Frame> frame = read_frame(now, read);
  return frame ? frame->rip : 0;
}

}  // namespace pastcone::debug

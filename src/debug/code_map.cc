#include "pastcone/debug/code_map.h"

#include <sys/syscall.h>
#include <ucontext.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "pastcone/patch/abi.h"
#include "pastcone/patch/thread_abi.h"
#include "pastcone/stage/breakpoint.h"

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

constexpr uint64_t kPage = 4096;
uint64_t page_of(uint64_t address) { return address & ~(kPage - 1); }

/// Of the stub that the address is in.
std::optional<stage::StubMap> stub_map(uint64_t address, const CodeMap::Read& read) {
  stage::StubMap map{};
  bool there = read(page_of(address) + kPage - sizeof map, &map, sizeof map) && map.mark == stage::StubMap::kMark &&
               map.count > 0 && map.count <= stage::StubMap::kMost;
  return there ? std::optional(map) : std::nullopt;
}

/// In a stub.
user_regs_struct leave_stub(const user_regs_struct& now, const stage::StubMap& map, const CodeMap::Read& read) {
  user_regs_struct program = now;
  uint64_t offset = now.rip - page_of(now.rip);
  program.rip = map.at;
  if (offset >= map.moved && offset < map.end) {
    for (uint32_t i = 0; i < map.count; ++i)
      if (map.instructions[i].offset <= offset) program.rip = map.at + map.instructions[i].distance;
    return program;
  }
  if (offset > 0) (void)read(now.gs_base + THREAD_SAVED_RCX, &program.rcx, sizeof program.rcx);
  if (offset >= map.rax_saved) (void)read(now.gs_base + THREAD_SAVED_RAX, &program.rax, sizeof program.rax);
  return program;
}

/// Where a handler that has made its frame on this stack goes on when it returns.
uint64_t interrupted_address(uint64_t stack, const CodeMap::Read& read) {
  mcontext_t context{};
  if (!read(stack + offsetof(ucontext_t, uc_mcontext), &context, sizeof context)) return 0;
  auto address = static_cast<uint64_t>(context.gregs[REG_RIP]);
  uint64_t meant = context.__reserved1[CONTEXT_MEANT];
  if (address != context.__reserved1[CONTEXT_SHOWN] || meant == 0) return address;
  return meant == patch::kSyscallEntry ? static_cast<uint64_t>(context.gregs[REG_RCX]) : meant;  // a call begins again
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

uint64_t CodeMap::place_of_break(uint64_t address, const Read& read) const {
  constexpr uint64_t kJumpSize = 5;
  constexpr uint8_t kJump = 0xe9;
  auto jumps_to = [](const uint8_t* code, uint64_t at) -> uint64_t {
    int32_t distance = 0;
    std::memcpy(&distance, code + 1, sizeof distance);
    return code[0] == kJump ? at + kJumpSize + static_cast<uint64_t>(int64_t{distance}) : 0;
  };
  // The last instruction that is displaced may begin behind the jump itself: `mov $1,%eax; syscall`.
  auto is_displaced = [&] {
    constexpr uint64_t kFarthest = 14;
    std::array<uint8_t, kFarthest + kJumpSize - 1> code{};
    uint64_t begin = address - kFarthest;
    if (!read(begin, code.data(), code.size())) return false;
    for (uint64_t i = 0; i < kFarthest; ++i)
      if (in_trampoline(jumps_to(&code[i], begin + i))) return true;
    return false;
  };
  // From where a trampoline ends it jumps back to what is not displaced.
  auto leads_back = [&](uint64_t copy) {
    std::array<uint8_t, kJumpSize> code{};
    return !read(copy, code.data(), code.size()) || jumps_to(code.data(), copy) == address;
  };
  for (const Area& code : patched_) {
    if (address < code.begin || address >= code.end || !is_displaced()) continue;
    for (uint64_t copy : code.origins->copies(code.offset + (address - code.begin)))
      for (const Area& area : trampolines_) {
        if (area.origins != code.origins || copy < area.offset || copy - area.offset >= area.end - area.begin) continue;
        uint64_t place = area.begin + (copy - area.offset);
        if (!leads_back(place)) return place;
      }
  }
  return address;
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
  if (in_trampoline(now.rip)) {
    user_regs_struct program = now;
    program.rip = leave_trampoline(now.rip);
    return program;
  }
  if (!in_runtime(now.rip)) {
    auto stub = stub_map(now.rip, read);
    return stub ? std::optional(leave_stub(now, *stub, read)) : std::nullopt;
  }
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

bool CodeMap::between_instructions(uint64_t address, const Read& read) {
  auto stub = stub_map(address, read);
  uint64_t offset = address - page_of(address);
  return stub && (offset <= stub->moved || offset >= stub->left);
}

uint64_t CodeMap::return_address(const user_regs_struct& now, const Read& read) {
  bool enters_call = now.rip == patch::kSyscallEntry;  // nothing is saved yet
  if (enters_call && now.rax == SYS_rt_sigreturn) return interrupted_address(now.rsp, read);
  if (enters_call || now.rip == patch::kInstructionEntry) return now.rcx;
  std::optional<Frame> frame = read_frame(now, read);
  if (!frame) return 0;
  bool returns = frame->number == SYS_rt_sigreturn && frame->full == 0;  // not yet done
  return returns ? interrupted_address(frame->rsp, read) : frame->rip;
}

uint64_t CodeMap::address_behind_handler(const user_regs_struct& now, const Read& read) {
  constexpr uint16_t kSyscall = 0x050f;
  uint16_t code = 0;
  bool returns = now.rax == SYS_rt_sigreturn && read(now.rip, &code, sizeof code) && code == kSyscall;
  return returns ? interrupted_address(now.rsp, read) : 0;
}

}  // namespace pastcone::debug

#include "pastcone/patch/exempt.h"

#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

namespace pastcone::patch {
namespace {

constexpr uint8_t kStackPointer = 4;
constexpr std::array<std::string_view, 6> kMakeProcesses = {"clone",    "__clone", "clone3",
                                                            "__clone3", "vfork",   "__vfork"};

/// The number that `mov $number,%eax` or `mov $number,%rax` loads if it is the last instruction of `code`.
/// Goes by the bytes: what is in front of the restorer need not be decodable.
std::optional<uint32_t> number_loaded_last(ByteView code) {
  if (code.size() < 5) return std::nullopt;
  uint32_t number;
  std::memcpy(&number, code.last(4).data(), sizeof number);
  bool loads_eax = code[code.size() - 5] == 0xb8;
  bool loads_rax = code.size() >= 7 && code[code.size() - 7] == 0x48 && code[code.size() - 6] == 0xc7 &&
                   code[code.size() - 5] == 0xc0;
  return loads_eax || loads_rax ? std::optional(number) : std::nullopt;
}

}  // namespace

Exemptions::Exemptions(const ElfImage& image) : image_(image) {
  for (const Symbol& symbol : image.symbols()) {
    if (std::ranges::find(kMakeProcesses, symbol.name) != kMakeProcesses.end()) functions_.push_back(symbol);
  }
}

const char* Exemptions::reason(const SitePiece& piece, const Instruction& site) const {
  const char* reason = site.kind() == Kind::kSyscall ? syscall_reason(site) : nullptr;
  if (reason != nullptr) return reason;
  if (piece.doubt != nullptr) return piece.doubt;
  if (site.kind() != Kind::kSyscall && descriptor_destination(site.descriptor) == kStackPointer) {
    return "writes the stack pointer";
  }
  return nullptr;
}

const char* Exemptions::syscall_reason(const Instruction& site) const {
  const Segment* segment = image_.executable_segment(site.address);
  ByteView in_front = image_.bytes(*segment).first(site.address - segment->vaddr);
  switch (number_loaded_last(in_front).value_or(0)) {
    case SYS_rt_sigreturn:
      return "returns from a signal";
    case SYS_clone:
    case SYS_clone3:
    case SYS_vfork:
      return "makes a process or thread";
    default:
      break;
  }
  for (const Symbol& function : functions_) {
    if (site.address - function.address < function.size) return "makes a process or thread";
  }
  return nullptr;
}

}  // namespace pastcone::patch

#include "pastcone/debug/jumps.h"

#include <bit>
#include <utility>

namespace pastcone::debug {

Result<std::map<uint64_t, JumpKind>> find_jumps(gdb::Gdb& gdb) {
  // siglongjmp and _longjmp are other names of longjmp.
  constexpr std::pair<const char*, JumpKind> kFunctions[] = {{"longjmp", JumpKind::kLong},
                                                             {"__longjmp_chk", JumpKind::kLong},
                                                             {"_Unwind_SetIP", JumpKind::kException}};
  std::map<uint64_t, JumpKind> found;
  for (const auto& [name, kind] : kFunctions) {
    gdb::Answer answer = TRY(gdb.run(fmt::format("-data-evaluate-expression \"(unsigned long)&{}\"", name)));
    auto address = answer.good ? answer.results["value"].number() : std::nullopt;
    if (address) found[*address] = kind;
  }
  return found;
}

std::optional<uint64_t> target_of(JumpKind kind, const user_regs_struct& registers,
                                  const gdb::ReadMemory& read) {
  if (kind == JumpKind::kException) return registers.rsi;  // (context, address)
  // glibc keeps it last among eight registers, in disguise.
  constexpr uint64_t kPlace = 7, kGuard = 0x30;
  constexpr int kRotated = 17;
  uint64_t kept = 0, guard = 0;
  if (!read(registers.rdi + kPlace * sizeof kept, &kept, sizeof kept)) return {};
  if (!read(registers.fs_base + kGuard, &guard, sizeof guard)) return {};
  return std::rotr(kept, kRotated) ^ guard;
}

}  // namespace pastcone::debug

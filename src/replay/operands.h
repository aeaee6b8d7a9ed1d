// Which memory an instruction may touch, told from its bytes and the registers before it. Rather more than
// less: sizes are those of the largest form, and who reads counts like who writes.
#pragma once

#include <sys/user.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace pastcone::replay {

struct Operands {
  struct Memory {
    uint64_t address = 0;
    uint32_t size = 0;
    bool operator==(const Memory&) const = default;
  };
  std::vector<Memory> memory;
  bool known = true;    ///< false: it may touch other memory as well
  bool leaves = false;  ///< it leads into the kernel: a system call, a trap
  bool divides = false;
  std::optional<uint64_t> divisor;  ///< if that is not in memory
};

Operands operands_of(std::span<const uint8_t> code, const user_regs_struct& registers);

}  // namespace pastcone::replay

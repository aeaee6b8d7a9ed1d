// Which addresses of a replayed process are the program's own code: not the runtime, nor the trampolines of
// patched files (src/patch/abi.h), which the user shall not see.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "pastcone/base/files.h"
#include "pastcone/symbols/mappings.h"
#include "pastcone/symbols/origins.h"
#include "pastcone/symbols/symbols.h"

namespace pastcone::debug {

bool in_runtime(uint64_t address);
symbols::Registers as_dwarf(const user_regs_struct& from);

class CodeMap {
 public:
  using Read = std::function<bool(uint64_t address, void* to, size_t size)>;

  /// As the process has its files mapped now.
  void look(pid_t process);

  bool in_trampoline(uint64_t address) const;
  bool visible(uint64_t address) const { return !in_runtime(address) && !in_trampoline(address); }
  /// Where a breakpoint at an instruction has to lie: of one that a jump of a patched file displaces, the copy in the
  /// trampoline is what is executed.
  uint64_t place_of_break(uint64_t address, const Read& read) const;
  /// In the runtime's stub of an asynchronous point, where the program stands at the instruction that it came from,
  /// or has come to the one that it goes to.
  static bool between_instructions(uint64_t address, const Read& read);

  /// The registers as the program would have them, were the runtime a part of the kernel. None: they are those
  /// already, or not known.
  std::optional<user_regs_struct> registers_of_program(const user_regs_struct& now, const Read& read) const;
  /// Where a thread that is in the runtime goes on, in a trampoline or in the program; 0: not known.
  static uint64_t return_address(const user_regs_struct& now, const Read& read);
  /// Where a thread goes on whose next instruction is the system call by which a handler returns; else 0.
  static uint64_t address_behind_handler(const user_regs_struct& now, const Read& read);

 private:
  std::optional<user_regs_struct> unwound(const user_regs_struct& now, const Read& read) const;
  uint64_t leave_trampoline(uint64_t address) const;

  struct Area {
    uint64_t begin, end, offset;
    const symbols::Origins* origins;
  };
  std::string maps_;  ///< when it was looked at
  std::vector<Area> trampolines_, patched_;
  std::shared_ptr<symbols::Symbols> runtime_;  ///< its unwind tables
  std::map<Path, std::optional<symbols::Origins>> files_;
};

}  // namespace pastcone::debug

// Sites that must not become jumps, whatever room there is.
//
//   - the signal restorer: gdb and unwinders recognise a signal's frame by its bytes;
//   - system calls that make a process or thread: they return twice, on another stack or on a shared one, and
//   code
//     around them is written to that. Known by the number loaded right in front, or by the function's name;
//   - all in a function that does not decode to its end, or whose exception table cannot be read: there may
//   be jumps
//     we do not see.
// The runtime's net (Syscall User Dispatch, or a trap) takes them at their own address.
#pragma once

#include <vector>

#include "pastcone/patch/elf_image.h"
#include "pastcone/patch/sites.h"

namespace pastcone::patch {

class Exemptions {
 public:
  explicit Exemptions(const ElfImage& image);

  /// Why this site of `piece` is exempt; nullptr if it is not.
  const char* reason(const SitePiece& piece, const Instruction& site) const;

 private:
  const char* syscall_reason(const Instruction& site) const;

  const ElfImage& image_;
  std::vector<Symbol> functions_;  // by whose name we know that they make processes
};

}  // namespace pastcone::patch

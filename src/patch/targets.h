// All addresses that control may reach other than by falling into them, as far as a file tells. None of them
// may lie inside what a jump replaces.
//
// Errs on the side of too many: whatever looks like the address of code counts. Certain are
//   - starts of functions, and all symbols;
//   - targets of direct jumps and calls in known functions, even into the middle of an instruction (behind a
//   lock
//     prefix, say).
// Only if an instruction starts there, since the rest would be chance:
//   - code addresses formed relative to %rip or, in programs at fixed addresses, as constants; and all of the
//   above
//     in code outside known functions, which may be data;
//   - aligned words in the file's data (tables of programs at fixed addresses, DT_RELR), and addends of
//   relocations;
//   - entries of switch tables: where a function jumps indirectly, what it takes the address of is read as a
//   table
//     of 32-bit offsets from its own start, as GCC and Clang write them.
// Landing pads of exceptions are not included: add them for the frames that matter.
#pragma once

#include <cstdint>
#include <vector>

#include "pastcone/patch/elf_image.h"
#include "pastcone/patch/functions.h"

namespace pastcone::patch {

/// A set of addresses in executable segments, a bit per byte.
class CodeAddresses {
 public:
  explicit CodeAddresses(const ElfImage& image);

  /// Ignored if it is not in an executable segment.
  void add(uint64_t address);
  bool contains(uint64_t address) const;
  bool any_in(uint64_t start, uint64_t end) const;

 private:
  struct Map {
    uint64_t start, size;
    std::vector<uint64_t> bits;
  };
  std::vector<Map> maps_;
};

/// Decodes all code of the file, so it takes as long as that takes: some 50 ns for an instruction.
CodeAddresses find_targets(const ElfImage& image, const std::vector<Piece>& pieces);

}  // namespace pastcone::patch

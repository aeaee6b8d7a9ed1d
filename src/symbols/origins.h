// The way back from a patched file's trampolines to the code they stand for (patch/abi.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pastcone/base/files.h"
#include "pastcone/patch/abi.h"

namespace pastcone::symbols {

class Origins {
 public:
  /// Nothing if the file is not a patched one.
  static std::optional<Origins> read(const Path& file);

  /// Whether this offset in the file belongs to trampolines, and not to the file that was patched.
  bool is_trampoline(uint64_t offset) const;
  /// The offset, in the file, of the instruction that the trampoline's byte at `offset` stands for.
  std::optional<uint64_t> original(uint64_t offset) const;
  /// Where, in the file, trampolines have the instruction at `offset`.
  std::vector<uint64_t> copies(uint64_t offset) const;

  /// From here to the next one trampolines stand for one instruction.
  struct Piece {
    uint64_t begin;     ///< offset in the file
    uint64_t original;  ///< that of the instruction
  };
  std::vector<Piece> pieces() const;

 private:
  struct Area {
    patch::PatchedSegment segment;
    std::vector<patch::TrampolineOrigin> origins;
  };
  std::vector<Area> areas_;
};

}  // namespace pastcone::symbols

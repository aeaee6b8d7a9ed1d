// Where the code is: function ranges from symbols, frames and Go's own table. Code outside them is never patched, since it
// may as well be data, or be entered where we would not know.
#pragma once

#include <cstdint>
#include <vector>

#include "pastcone/patch/decoder.h"
#include "pastcone/patch/eh_frame.h"
#include "pastcone/patch/elf_image.h"

namespace pastcone::patch {

/// Code that is decoded from its start on: a function, up to the next known start. Pieces never overlap.
struct Piece {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t limit =
      0;  ///< where the next piece or the end of the segment is; from `end` to here is padding, or unknown
};

/// `mov $15,%rax; syscall`: to where signal handlers return. Debuggers recognise it by these bytes.
bool is_signal_restorer(ByteView code);

/// In order of address; all within executable segments.
std::vector<Piece> find_pieces(const ElfImage& image, const std::vector<Frame>& frames);

/// Decodes [start, end) of the image instruction by instruction and calls visit(const Instruction&). False if
/// it met something that is not an instruction or does not end at `end`; then it has stopped there.
template <typename Visit>
bool decode_range(const ElfImage& image, uint64_t start, uint64_t end, Visit visit) {
  ByteView bytes = image.from(start);
  if (bytes.size() < end - start) return false;
  bytes = bytes.first(end - start);
  for (uint64_t address = start; address < end;) {
    auto instruction = decode(bytes.subspan(address - start), address);
    if (!instruction) return false;
    visit(*instruction);
    address = instruction->end();
  }
  return true;
}

}  // namespace pastcone::patch

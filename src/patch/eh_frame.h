// Reads .eh_frame, the table by which exceptions unwind the stack. It tells where nearly every function lies,
// even in a stripped file; and through .gcc_except_table where exceptions land. LSB Core 5.0, chapter 10; the
// tables behind FDEs are those of GCC's unwind-c++ (except.c, output_function_exception_table).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pastcone/patch/elf_image.h"

namespace pastcone::patch {

/// What one frame description covers: a function, or a part of one.
struct Frame {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t lsda = 0;  ///< address of its exception table; 0 if it has none
};

/// All frames in the file's order. Where the table is damaged, those before the damage.
std::vector<Frame> read_frames(const ElfImage& image);

/// Where exceptions land in a frame that has an exception table; nothing if that cannot be read.
std::optional<std::vector<uint64_t>> landing_pads(const ElfImage& image, const Frame& frame);

}  // namespace pastcone::patch

// Reads Go's table of functions (pclntab), which every Go program carries for its own unwinder, stripped or not. Go code
// has no .eh_frame, so in a stripped program nothing else tells where its functions lie. The format: Go's
// src/debug/gosym/pclntab.go.
#pragma once

#include <cstdint>
#include <vector>

#include "pastcone/patch/elf_image.h"

namespace pastcone::patch {

struct GoFunction {
  uint64_t start = 0;
  uint64_t end = 0;  ///< the start of the next one: padding (int3) is part of it
};

/// In order of address; empty if it is not a Go program, or one whose table is of an unknown format.
std::vector<GoFunction> read_go_functions(const ElfImage& image);

}  // namespace pastcone::patch

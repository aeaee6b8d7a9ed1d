// Reads the blocks of a function from debug information.
#pragma once

#include <elfutils/libdw.h>

#include <optional>

#include "pastcone/symbols/function_blocks.h"

namespace pastcone::symbols {

/// None: no function is known there. `bias`: to be added to the unit's addresses.
std::optional<FunctionBlocks> read_blocks(Dwarf_Die* unit, Dwarf_Addr bias, uint64_t address);

}  // namespace pastcone::symbols

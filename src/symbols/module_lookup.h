// What is known of an address in a module, from debug information or else from symbols.
#pragma once

#include "pastcone/symbols/debug_units.h"

namespace pastcone::symbols {

/// Debug information in a file of its own is looked for by build id, and beside the file that the module is
/// called after.
extern const Dwfl_Callbacks kFindDebugInformation;

/// Inlined functions first, the innermost before all; at least one, of which perhaps nothing but the module
/// is known.
std::vector<Location> locate_in(Dwfl_Module* module, const DebugUnits& units, uint64_t address);

}  // namespace pastcone::symbols

// Call frame information (.eh_frame, .debug_frame), reduced to what the runtime walks stacks by.
#pragma once

#include <vector>

#include "pastcone/patch/elf_image.h"
#include "pastcone/stage/where.h"
#include "pastcone/symbols/debug_units.h"
#include "pastcone/symbols/origins.h"

namespace pastcone::symbols {

struct AddressRow {
  uint64_t address;
  stage::UnwindRow row;  ///< without `begin`
};

/// By address; of a module that lies where its file says.
std::vector<AddressRow> make_unwind_rows(Dwfl_Module* module, const patch::ElfImage& image,
                                         const DebugUnits& units);

/// In trampolines it is as at the instruction they stand for.
void add_trampoline_rows(const Origins& origins, std::vector<stage::UnwindRow>& rows);

}  // namespace pastcone::symbols

// Which of the functions that begin at one instruction, inlined into each other, is shown there.
#pragma once

#include <string>

#include "pastcone/debug/inferior.h"
#include "pastcone/gdb/gdb.h"

namespace pastcone::debug {

/// gdb, where it stops, hides inlined functions that only begin there, up to the one that has a breakpoint:
/// one seems to be in the line that calls them. It does not know the breakpoints, which are not its own, nor
/// that it has stopped if somebody else has moved the process. So it is told: the process stands at a
/// breakpoint in `function`.
Status show_inlined(gdb::Gdb& gdb, Inferior& inferior, const std::string& function);

}  // namespace pastcone::debug

// Replay for debuggers: a process that is seen as its program, not as the runtime. See stage::Takeover.
#pragma once

#include "thread.h"

namespace pastcone::runtime {

/// Asks the director to take this process over once it has executed the program that comes next in its log. What to execute, or null:
/// the runtime, as ever.
const char* ask_for_takeover(const Thread& t);
/// It could not be executed.
void decline_takeover();

/// The runtime's own file as a debugger can read it from memory, wherever it finds the vDSO: AT_SYSINFO_EHDR for the kernel's copy of
/// the auxiliary vector. 0: not wanted, or not possible.
u64 map_own_symbols();

/// gdb looks for the auxiliary vector of a static program on its stack. So there it is, too, while all stand still: AT_FLAGS, which is 0
/// and means nothing, makes room for it. `auxv`: the program's.
void note_static_auxv(u64* auxv);
/// While all stand still, and no longer.
void show_to_debuggers(bool shown);

}  // namespace pastcone::runtime

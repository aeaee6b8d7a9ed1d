// Sites that could not be patched by a jump and start with int3 instead: instructions like rdtsc where there is no room, and,
// on kernels without Syscall User Dispatch, the remaining system calls.
#pragma once

#include "pastcone/patch/abi.h"
#include "signal_frame.h"

namespace pastcone::runtime {

/// A patched segment was mapped at `address`; its trap table is in the patched file.
void add_traps(u64 address, const patch::PatchedSegment& segment, int fd);
/// In the kernel's handler of SIGTRAP. False: no site of ours.
bool on_trap(KernelContext& context);

}  // namespace pastcone::runtime

// Functions of the program's libraries that the runtime takes over in parallel mode, and how to call them as they were.
#pragma once

#include "pastcone/patch/abi.h"
#include "pastcone/patch/hooks.h"
#include "thread.h"

namespace pastcone::runtime {

using patch::Hook;

/// Where the function itself is, in this process.
extern u64 originals[(u32)Hook::kCount];

template <typename Result = int, typename... Arguments>
Result call_original(Hook hook, Arguments... arguments) {
  return ((Result(*)(Arguments...))originals[(u32)hook])(arguments...);
}

/// Where the program keeps its errno.
inline int& program_errno() { return *call_original<int*>(Hook::__errno_location); }

/// Whether a trampoline stands for an instruction of the library that has the locks.
bool is_of_locks(u64 trampoline);

/// A patched segment was mapped at `address` from `fd`.
void add_hooks(u64 bias, const patch::PatchedSegment& segment, int fd);

/// In the child of a fork: its parent's threads are not its own.
void forget_detached();
/// Replay: the thread with this handle begins to exist.
void note_begun(u64 handle, u32 thread);

inline constexpr int kBusyResult = 16, kTimedOut = 110, kDeadlock = 35, kNotPermitted = 1, kOwnerDead = 130, kNotRecoverable = 131,
                     kInvalid = 22;

}  // namespace pastcone::runtime

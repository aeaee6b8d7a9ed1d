#include "hooks.h"

namespace pastcone::runtime {

u64 originals[(u32)Hook::kCount];

namespace {
u64 lock_trampolines, lock_trampolines_size;
}
bool is_of_locks(u64 trampoline) { return trampoline - lock_trampolines < lock_trampolines_size; }

/// Patched functions jump to what stands here, at the address that patch/abi.h names.
extern "C" {
// Those that are never patched.
void hook___errno_location() { __builtin_trap(); }
void hook___libc_fatal() { __builtin_trap(); }
void hook_pthread_getattr_default_np() { __builtin_trap(); }
void hook_pthread_setcanceltype() { __builtin_trap(); }
void hook_pthread_testcancel() { __builtin_trap(); }
void hook_tgkill() { __builtin_trap(); }
void hook_syscall() { __builtin_trap(); }
void hook__ZSt17__throw_bad_allocv() { __builtin_trap(); }
void hook__pthread_cleanup_push() { __builtin_trap(); }
void hook__pthread_cleanup_pop() { __builtin_trap(); }
void hook__IO_2_1_stdin_() { __builtin_trap(); }
void hook__IO_2_1_stdout_() { __builtin_trap(); }
void hook__IO_2_1_stderr_() { __builtin_trap(); }
void hook_GOMP_ordered_start() { __builtin_trap(); }
#define X(name, library, use) void hook_##name();
PASTCONE_HOOKS(X)
#undef X
#define X(name, library, use) hook_##name,
[[gnu::section(".hooks"), gnu::used]] void (*const hook_functions[])() = {PASTCONE_HOOKS(X)};
#undef X
}

void add_hooks(u64 bias, const patch::PatchedSegment& segment, int fd) {
  for (u64 i = 0; i < segment.hook_count; ++i) {
    patch::HookEntry entry{};
    u64 at = segment.hook_offset + i * sizeof entry;
    if (sys(__NR_pread64, fd, &entry, sizeof entry, at) != sizeof entry || entry.hook >= (u32)Hook::kCount) return;
    originals[entry.hook] = bias + segment.trampoline_vaddr + entry.trampoline;
    if (entry.hook != (u32)Hook::pthread_mutex_lock) continue;
    lock_trampolines = bias + segment.trampoline_vaddr;
    lock_trampolines_size = segment.trampoline_size;
  }
}

}  // namespace pastcone::runtime

// What recording (survey.cc) and replay (breakpoint.cc) of asynchronous points have in common; see async.h.
#pragma once

#include "async.h"

namespace pastcone::runtime {

inline constexpr u64 kTrapFlag = 0x100;
inline constexpr i64 kRetry = 1'000'000;        ///< ns until the next look at a thread that was where it cannot be stopped
/// In replay a thread whose log is used up was killed, or slept for ever. If it computes that long (ns) without a call it was
/// killed there, and ends.
inline constexpr i64 kAfterLog = 999'000'000;

/// The thread is inside the runtime or a trampoline.
inline bool is_ours(const KernelContext& k) { return in_runtime(k.rip) || on_runtime_stack(k.rsp) || is_trampoline(k.rip); }
/// As AsyncPoint has them.
void registers_of(const Frame& f, u64 (&out)[18]);
/// The program's code.
void write_code(u64 address, const void* bytes, u64 n);
/// An interruption after that long.
void arm_timer(Thread& t, i64 nanoseconds);

/// The thread is at its asynchronous point, Thread::signals.fault_frame.
[[noreturn]] void on_async_stack();
/// Diverts the thread, which is in a signal handler of ours, to on_async_stack.
void divert(Thread& t, KernelContext& context);

/// Record: a thread that should be stopped is at a place where it could be. Looks for a better one.
void survey(Thread& t, KernelContext& context);
/// In the kernel's handler of SIGTRAP, during a survey. False: the trap is the program's.
bool on_step_trap(Thread& t, KernelContext& context);

}  // namespace pastcone::runtime

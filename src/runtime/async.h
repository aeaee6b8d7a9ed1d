// Asynchronous points: places between two calls at which a thread was interrupted, because it computed on while a signal
// waited for it, or others for their turn.
//
// Recording: a timer, or whoever waits for the turn, sends SIGWINCH with a mark of ours. At the first one the thread's memory is
// copied; at the next, some milliseconds later, it is single-stepped until it comes by the same place again. There it is
// stopped: the log gets kAsync with its registers and with words of memory that have changed, which tell this pass from all
// others; then what happened there (a hand-over, signals).
// Replay: when kAsync is next in the log, a breakpoint is set at that instruction: a jump to a stub that compares some of
// these values, in a few nanoseconds (see stage::Breakpoint), or if that is not possible an int3. Where there is no room for the
// jump there may be at the comparison directly in front. When all are equal the same happens again.
#pragma once

#include "pastcone/trace/format.h"
#include "signal_frame.h"

namespace pastcone::runtime {

/// SIGWINCH: ignored by default, so harmless to a program that is just being executed, and hardly anybody waits for it by
/// signalfd or sigwait (PostgreSQL does for SIGURG, which is as harmless).
inline constexpr int kInterruptSignal = 28;
inline constexpr u64 kInterruptMark = 0x70617374636f6e65;

/// Record: a signal waits for a thread that is in the program's own code. Interrupts it if it makes no call soon.
void interrupt_soon(Thread& t);
/// Is this one of our interruptions?
bool is_interruption(int signal, const SignalInfo& info);
/// In the kernel's handler of one.
void on_interruption(Thread& t, KernelContext& context);
/// In the kernel's handler of SIGTRAP. False: the trap is not ours.
bool on_breakpoint(Thread& t, KernelContext& context);
/// Record, in the kernel's handler of a signal after which the program does not just go on: no more single steps.
void end_survey(Thread& t, KernelContext& context);
/// Replay: about to go back to the program with `frame`: if the log says that it is interrupted before its next call, gets
/// ready for that. May not return.
void prepare_async(Thread& t, Frame& frame);
/// The same if it goes on at a place that cannot be the point itself; `rip` 0: unknown.
bool arm_async(Thread& t, u64 rip);
bool is_trampoline(u64 address);  // maps.cc

}  // namespace pastcone::runtime

// Asynchronous points: places between two calls at which a thread was interrupted, because it computed on while a signal
// waited for it, or others for their turn.
//
// Recording: a timer, or whoever waits for the turn, sends SIGURG with a mark of ours. The thread stops where it is; the
// log gets kAsync with its registers and a digest of its stack, then what happened there (a hand-over, signals).
// Replay: when kAsync is next in the log, a breakpoint is set at that instruction; each time it is hit registers and
// stack are compared, and at the first match the same happens again.
#pragma once

#include "pastcone/trace/format.h"
#include "signal_frame.h"

namespace pastcone::runtime {

inline constexpr int kInterruptSignal = 23;             // SIGURG: harmless to a program that is just being executed
inline constexpr u64 kInterruptMark = 0x70617374636f6e65;

/// Record: a signal waits for a thread that is in the program's own code. Interrupts it if it makes no call soon.
void interrupt_soon(Thread& t);
/// Is this one of our interruptions?
bool is_interruption(int signal, const SignalInfo& info);
/// In the kernel's handler of one.
void on_interruption(Thread& t, KernelContext& context);
/// Replay, in the kernel's handler of SIGTRAP. False: the trap is the program's own.
bool on_breakpoint(Thread& t, KernelContext& context);
/// Replay: about to go back to the program with `frame`: if the log says that it is interrupted before its next call, gets
/// ready for that. May not return.
void prepare_async(Thread& t, Frame& frame);
bool is_trampoline(u64 address);  // maps.cc

}  // namespace pastcone::runtime

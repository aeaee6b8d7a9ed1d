// Faults behind the ends of mapped files (SIGBUS), in replay. What replay maps does not end with the file; so where such a fault is
// what a thread comes to next, its page is taken away until then.
#pragma once

#include "signals.h"

namespace pastcone::runtime {

inline constexpr int kBus = 7;

/// The thread goes on in its program.
void foretell_fault(Thread& t);
/// It has come to the fault: `info` is as it was recorded. False: it is another one.
bool take_foretold_fault(Thread& t, u64 address, SignalInfo& info);

}  // namespace pastcone::runtime

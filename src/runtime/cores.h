// Replay in parallel mode: which core a thread is on, as far as that matters for waiting.
//
// Who waits for another thread's step spins, which is right while that thread runs on another core, and the worst there is while it
// waits for this very core. The kernel leaves two threads that only hand something to each other on one core for a long time, since
// to it both are always busy, and all others asleep. So it is known of each core who was there last, and a thread that shares its
// core with another moves to one where nobody is.
#pragma once

#include "thread.h"

namespace pastcone::runtime {

/// The thread runs, here.
void note_core(Thread& t);
/// It sleeps, or has ended; may be said by another thread.
inline void leave_core(stage::ThreadSlot& slot) { store(slot.core, 0); }

/// Somebody has to do something first, and has not for a while.
void let_others_run(Thread& t);

}  // namespace pastcone::runtime

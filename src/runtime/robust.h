// Robust mutexes: the kernel marks them when their owner ends, in memory that others may look at. So it is done here instead, while
// the owner has the turn: at a moment that is part of the order. The kernel then finds nothing left to do.
#pragma once

#include "thread.h"

namespace pastcone::runtime {

void release_robust_mutexes(Thread& t);      ///< the thread ends
void release_all_robust_mutexes(Thread& t);  ///< its process ends, or executes a program
/// The kernel has marked this futex: its owner was killed.
bool is_of_dead(u64 futex);

}  // namespace pastcone::runtime

// Calls by which processes agree upon what they share, in parallel mode: System V semaphores and queues, eventfd. Those that give
// something and those that take it are in one order for each object. Who gives is noted before it happens, who takes afterwards, so
// that nobody takes what was not given yet.
#pragma once

#include "call.h"

namespace pastcone::runtime {

/// Record: the number of a new object; 0: nothing of it is noted.
u32 new_meeting(Thread& t);
/// Record: that of an object which processes know by a number of the kernel's.
enum class KeyOf : u64;
u32 find_meeting(Thread& t, KeyOf family, u64 id);

/// Record: the current call gives, or has taken.
void note_meeting(Call& c, u32 object);
/// Replay, before the call's item is read: waits until it is its turn with the object, if it has one.
void take_meeting(Call& c);

/// Such a call, in both modes. `object` may be 0: among threads, who gives comes before who takes all the same. `expected`: what a call
/// that gives mostly returns; it has no `outs`.
long meet(Call& c, u32 object, bool gives, OutsFunction outs, long expected = 0);

}  // namespace pastcone::runtime

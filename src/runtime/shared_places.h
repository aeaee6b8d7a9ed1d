// Memory that processes share, in parallel mode: what a place in it is called by all of them, whatever its address, and the states of
// objects there that have no room for them.
#pragma once

#include "objects.h"

namespace pastcone::runtime {

/// Whether others may have this memory.
bool is_shared_memory(u64 address);
/// 0: nobody shares it.
u64 shared_key(Thread& t, u64 address);
void forget_shared_places();  ///< the memory map changes

/// The state of an object at this address, of this process or of all that share it.
struct Place {
  TableState& state;
  bool shared;
};
Place place_of(Thread& t, u64 address);

/// Replay: TableState::held of a robust mutex. When its owner ends it is given back.
inline constexpr u32 kHeldRobust = u32{1} << 30;
void release_robust_of(Thread& t);         ///< the thread ends
void release_robust_of_process(Thread& t); ///< all its threads do

}  // namespace pastcone::runtime

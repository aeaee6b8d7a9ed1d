// Mutexes as glibc lays them out.
#pragma once

#include "shared_places.h"

namespace pastcone::runtime {

struct Mutex {
  i32 lock;
  u32 count;
  i32 owner;
  u32 users;
  i32 kind;
  u16 spins;          ///< in replay, of a robust one: its last owner died, and nobody has mended it
  u16 elision;
  ObjectState state;  ///< where glibc has its list of robust mutexes

  static constexpr i32 kRecursive = 1, kErrorCheck = 2, kAdaptive = 3, kTypeMask = 3, kRobust = 16, kInherit = 32, kShared = 128,
                       kAnyKind = 0x7f;
  i32 type() const { return kind & kTypeMask; }
  bool plain() const { return !(kind & kAnyKind); }
  bool shared() const { return kind & kShared; }  ///< glibc says it of all robust ones
  bool between_processes() const { return shared() && (!robust() || place().shared); }
  bool robust() const { return kind & kRobust; }
  u64 address() const { return (u64)this; }
  Place place() const { return place_of(current(), address()); }
};
static_assert(sizeof(Mutex) == 40);

inline ObjectState& state_of(Mutex& m) {
  if (m.robust()) return m.place().state;
  return m.state;
}
/// Replay: takes or gives back a mutex, in recorded order.
int replay_lock(Thread& t, Mutex& m, const Due& due);
int replay_unlock(Thread& t, Mutex& m);

}  // namespace pastcone::runtime

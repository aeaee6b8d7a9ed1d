// Mutexes as glibc lays them out.
#pragma once

#include "objects.h"

namespace pastcone::runtime {

struct Mutex {
  i32 lock;
  u32 count;
  i32 owner;
  u32 users;
  i32 kind;
  u16 spins, elision;
  ObjectState state;  ///< where glibc has its list of robust and PI mutexes

  static constexpr i32 kRecursive = 1, kErrorCheck = 2, kAdaptive = 3, kTypeMask = 3, kRobust = 16, kInherit = 32, kShared = 128,
                       kAnyKind = 0x7f;
  i32 type() const { return kind & kTypeMask; }
  bool plain() const { return !(kind & kAnyKind); }
  /// glibc says it of all robust ones; but those have their state in a table of one process.
  bool shared() const { return kind & kShared; }
  bool between_processes() const { return shared() && !robust(); }
  bool robust() const { return kind & kRobust; }
  u64 address() const { return (u64)this; }
};
static_assert(sizeof(Mutex) == 40);

ObjectState& state_of(Mutex& m);
/// Replay: takes or gives back a mutex, in recorded order.
int replay_lock(Thread& t, Mutex& m, const Due& due);
int replay_unlock(Thread& t, Mutex& m);

/// Replay: the thread ends, and with it its hold of robust mutexes.
void release_held(Thread& t);

}  // namespace pastcone::runtime

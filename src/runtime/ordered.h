// A lock of ours around something in a library that has to happen in the same order again. A thread may take it several times.
#pragma once

#include "objects.h"

namespace pastcone::runtime {

class OrderedLock {
 public:
  explicit OrderedLock(u64 address) : address_(address), state_(table_state(address)) {}

  /// How often the thread has it.
  u32 depth(Thread& t) const { return load(state_.holder) == t.me ? state_.held : 0; }
  void take(Thread& t);
  /// In record without waiting, and if then the library's own `attempt` succeeds; in replay as it went then.
  bool try_take(Thread& t, bool (*attempt)(u64 address) = nullptr);
  void give_back(Thread& t);

 private:
  void forget_parents(Thread& t);
  bool claim(Thread& t);
  void release();
  void wait_until_free(Thread& t);
  void replay(Thread& t, const Due& due);

  u64 address_;
  TableState& state_;
};

/// A number that a library gives and that may be another next time: written down unless it is the expected one, and in replay
/// given again.
long repeat(Thread& t, long value, long expected);

/// While in scope this thread has the lock, if order counts.
class InOrder {
 public:
  InOrder(Thread& t, u64 address) : t_(t), lock_(address), ordered_(is_ordered(t, false)) {
    if (ordered_) lock_.take(t);
  }
  ~InOrder() {
    if (ordered_) lock_.give_back(t_);
  }
  InOrder(const InOrder&) = delete;

 private:
  Thread& t_;
  OrderedLock lock_;
  bool ordered_;
};

}  // namespace pastcone::runtime

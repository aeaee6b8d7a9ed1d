// A lock of ours around something in a library that has to happen in the same order again. A thread may take it several times.
#pragma once

#include "objects.h"
#include "unwinding.h"

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

/// While in scope this thread has the lock, if order counts. For what cannot be left otherwise.
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

/// While a thread has such a lock, which it gives back also where the library's function is left by an exception or the thread's end.
template <typename Call>
struct Holding : Guard {
  u64 address;
  Call& call;
};
template <typename Call>
void hold(Thread& t, u64 address, Call call) {
  OrderedLock(address).take(t);
  auto run = [](Guard& guard) { ((Holding<Call>&)guard).call(); };
  auto left = [](Guard& guard) { OrderedLock(((Holding<Call>&)guard).address).give_back(current()); };
  Holding<Call> guard{{run, left}, address, call};
  call_guarded(t, guard);
  OrderedLock(address).give_back(t);
}

/// Calls a function of the library, and has the lock meanwhile.
template <typename Result = int, typename... Arguments>
Result call_holding(Thread& t, u64 address, Hook hook, Arguments... arguments) {
  if constexpr (__is_same(Result, void)) {
    hold(t, address, [&] { call_original<void>(hook, arguments...); });
  } else {
    Result result;
    hold(t, address, [&] { result = call_original<Result>(hook, arguments...); });
    return result;
  }
}

}  // namespace pastcone::runtime

// What the hooks of OpenMP's work have in common. Work begins when the first thread of a team comes to it, which may allocate: so
// that happens in order.
#pragma once

#include "hooks.h"
#include "ordered.h"

namespace pastcone::runtime {

/// What the beginning of work is ordered by.
inline constexpr u64 kWork = 24;

/// libgomp's functions call each other.
class Inside {
 public:
  explicit Inside(Thread& t) : t_(t), outer_(t.in_openmp) { t.in_openmp = true; }
  ~Inside() { t_.in_openmp = outer_; }
  Inside(const Inside&) = delete;

 private:
  Thread& t_;
  bool outer_;
};

/// Whether this call is none of ours.
inline bool passes(Thread& t) { return t.in_openmp || !is_ordered(t, false); }

template <typename Result, typename... Arguments>
Result begin_work(Thread& t, Hook hook, Arguments... arguments) {
  InOrder in_order(t, kWork);
  Inside inside(t);
  return call_original<Result>(hook, arguments...);
}

}  // namespace pastcone::runtime

// What replaying a recording tells that its streams do not say: what calls did to channels and processes. The
// streams have no arguments of calls.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "pastcone/base/ids.h"
#include "pastcone/stage/layout.h"

namespace pastcone::graph {

using stage::FactKind;

/// Of a place: behind all that the thread does.
inline constexpr uint64_t kItsEnd = UINT64_MAX;

/// A place in a thread: a step (steps.h), or a point of its locks behind that (stage::ThreadSlot::horizon).
struct Place {
  ThreadId thread;
  uint64_t step = 0, point = 0;

  auto operator<=>(const Place&) const = default;
};

struct Fact {
  ThreadId thread;
  uint64_t event = 0;
  FactKind kind = FactKind::kDropped;
  uint64_t key = 0, number = 0, more = 0;  ///< see stage::FactKind
  uint64_t step = 0, point = 0;

  Place place() const { return {thread, step, point}; }
};

/// One use of an object: from where to where.
struct Use {
  Place at, until;  ///< point 0: it was not given back
  bool write = true;
  bool gives = false;  ///< of a semaphore: a post
  uint64_t writes =
      0;  ///< of a barrier: how many have come when all have; of a semaphore: what it began with
};

struct Object {
  stage::ObjectKind kind = stage::ObjectKind::kNone;
  bool shared = false;
  std::vector<Use> uses;  ///< in the order of its history
};

struct Facts {
  std::vector<Fact> list;       ///< in the order of that replay
  std::vector<Object> objects;  ///< object n is at n - 1
  bool complete = true;         ///< it came to its end
};

using FindFacts = std::function<Facts()>;

}  // namespace pastcone::graph

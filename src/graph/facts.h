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

struct Fact {
  ThreadId thread;
  uint64_t event = 0;
  FactKind kind = FactKind::kDropped;
  uint64_t key = 0, number = 0, more = 0;  ///< see stage::FactKind
};

struct Facts {
  std::vector<Fact> list;  ///< in the order of that replay
  bool complete = true;    ///< it came to its end
};

using FindFacts = std::function<Facts()>;

}  // namespace pastcone::graph

// What the epoll instances of a recording watch, as a replay tells it.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>

#include "pastcone/causal/model.h"
#include "pastcone/graph/facts.h"

namespace pastcone::graph {

class Watches {
 public:
  /// Both must outlive it.
  Watches(const std::map<ThreadId, uint32_t>& thread_of, const causal::Execution& execution)
      : thread_of_(thread_of), execution_(execution) {}

  /// A fact of kWatched.
  void add(const Fact& fact) {
    watches_[{fact.thread.process().number(), fact.more, fact.number}] = fact.key;
  }
  /// What a fact of kPolled is about: a channel, or a listener; 0: neither. A descriptor may have been
  /// inherited.
  uint64_t source(const Fact& fact) const;

 private:
  const std::map<ThreadId, uint32_t>& thread_of_;
  const causal::Execution& execution_;
  std::map<std::tuple<uint32_t, uint64_t, uint64_t>, uint64_t>
      watches_;  ///< process, descriptor, data → source
};

}  // namespace pastcone::graph

// Signals: which kill a delivery came from, and which end of a child.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "pastcone/base/bytes.h"
#include "pastcone/causal/model.h"
#include "pastcone/graph/facts.h"

namespace pastcone::graph {

class Signals {
 public:
  /// A process begins.
  void add_process(uint32_t process, uint32_t pid) { pids_[process] = pid; }
  /// A signal with this siginfo (empty: death by it, of which no more is known) was delivered to a thread of
  /// `process`.
  void take(uint32_t process, uint32_t signal, ByteView info, causal::Node at);
  /// The pids of children whose ends were told of by a signal, and where.
  const std::vector<std::pair<uint32_t, causal::Node>>& children() const { return children_; }
  /// The n-th delivery needs n signals of that sender; of deliveries to several threads, whose order is not
  /// known, each needs the first. Who dies needs one, if there is only one.
  void add_edges(const Facts& facts, const std::map<ThreadId, uint32_t>& thread_of,
                 causal::Execution& execution) const;

 private:
  struct Delivery {
    uint32_t process, signal, sender;  ///< sender: its pid; 0: not known
    causal::Node at;
  };

  std::map<uint32_t, uint32_t> pids_;
  std::vector<Delivery> deliveries_;
  std::vector<std::pair<uint32_t, causal::Node>> children_;
};

}  // namespace pastcone::graph

// Which process a pid meant when its end was told: pids are used again.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "pastcone/causal/model.h"

namespace pastcone::graph {

class Children {
 public:
  /// A process with this pid begins: its first thread, by its place.
  void add(uint32_t pid, uint32_t first_thread) { by_pid_[pid].push_back(first_thread); }
  /// The process whose end `at` was told of, by its first thread: the last child that the thread had created
  /// by then, or the only one that can be meant; none: it is not sure.
  std::optional<uint32_t> child(uint32_t pid, causal::Node at, const causal::Execution& execution) const;

 private:
  std::map<uint32_t, std::vector<uint32_t>> by_pid_;  ///< in the order of their processes
};

}  // namespace pastcone::graph

// What threads were told by those of their calls that wait for several things, and where connections came
// from: a part of ports.h.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "pastcone/causal/model.h"
#include "pastcone/graph/facts.h"
#include "pastcone/graph/watches.h"

namespace pastcone::graph {

class Told {
 public:
  struct Wait {
    int32_t epoll = -1;             ///< the descriptor, if that is what waited
    std::vector<uint64_t> sources;  ///< that were ready: channels, and listeners
  };

  Told(const Facts& facts, const causal::Execution& execution);

  /// A replay has told all there is.
  bool known() const { return known_; }
  /// What the call that the step leaves told of.
  const Wait& at(causal::Node wait) const;
  /// What a thread waited for at epoll instances, by their descriptors.
  const std::map<int32_t, Spans>& watched(uint32_t thread) const;
  /// What is watched at the end, by whom.
  const std::vector<causal::WatchInput>& watches() const { return watches_; }
  /// Channels where anybody may send.
  const std::set<uint64_t>& fifos() const { return fifos_; }
  /// The listener where that call accepted a connection; 0: not known.
  uint64_t listener(causal::Node accept) const;

 private:
  bool known_;
  std::map<causal::Node, Wait> waits_;
  std::map<uint32_t, std::map<int32_t, Spans>> watched_;
  std::vector<causal::WatchInput> watches_;
  std::map<causal::Node, uint64_t> accepts_;
  std::set<uint64_t> fifos_;
};

}  // namespace pastcone::graph

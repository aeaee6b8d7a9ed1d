// Who connected to whom: the log names the channel of a connection where it is made and where it is accepted.
#pragma once

#include <cstdint>
#include <map>

#include "pastcone/causal/model.h"
#include "pastcone/trace/item.h"

namespace pastcone::graph {

class Opens {
 public:
  void take(const Item& item, uint32_t thread);

  /// The connection that was accepted there; 0: none.
  uint64_t accepted_at(causal::Node at) const;
  /// Where it was connected; event 0: by somebody who was not recorded.
  causal::Node connector(uint64_t connection) const;
  /// A connection can be accepted once its connect has begun, which may end later.
  void add_edges(causal::Execution& execution) const;

 private:
  std::map<uint64_t, causal::Node> connects_;  ///< connection → leaving
  std::map<causal::Node, uint64_t> accepts_;   ///< leaving → connection
};

}  // namespace pastcone::graph

// Accesses of an object that were ordered by nothing but luck: that the one came first is known only because
// it did. With the edges from its release to the other access taken away, no other chain leads from where it
// began to there; in another run they may come the other way round.
#pragma once

#include <cstdint>
#include <vector>

#include "pastcone/causal/graph.h"

namespace pastcone::causal {

struct LuckyOrder {
  uint32_t object;
  Node release, access;

  auto operator<=>(const LuckyOrder&) const = default;
};

/// By object, then access. One sweep.
std::vector<LuckyOrder> lucky_orders(const Graph& graph);

}  // namespace pastcone::causal

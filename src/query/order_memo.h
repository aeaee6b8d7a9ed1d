// Whether one event came before another, for queries that ask it of many: if one side stays the same, its
// cone is taken once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pastcone/causal/cone.h"

namespace pastcone::query {

class OrderMemo {
 public:
  explicit OrderMemo(const causal::Graph& graph) : graph_(graph) {}

  bool before(causal::Node a, causal::Node b);

 private:
  /// The events asked about last on one side.
  struct Side {
    std::optional<causal::Node> node;
    std::vector<uint32_t> cone;  ///< once it was asked about twice

    /// True: it is the same as before.
    bool repeats(causal::Node next);
  };

  const causal::Graph& graph_;
  Side first_, second_;
};

}  // namespace pastcone::query

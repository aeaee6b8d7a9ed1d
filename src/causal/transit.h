// What lies in the channels at a cut: messages in transit, sent in it and received behind it or never; and
// orphans, received in it and sent behind it, of which a consistent cut has none. Time: a binary search per
// channel and thread that uses it, and what is found; channels with losses, or received out of order, are
// gone through from the beginning.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pastcone/causal/graph.h"

namespace pastcone::causal {

/// Positions of a channel that one send covers, and with one receive.
struct Piece {
  uint32_t send;                ///< its place in Graph::sends
  uint32_t receive = kNone;     ///< orphans: its place in Graph::receives
  uint64_t begin = 0, end = 0;  ///< less than the send's if a part is received; equal for an empty message

  bool operator==(const Piece&) const = default;
};

/// By channel and sender, then position.
std::vector<Piece> in_transit(const Graph& graph, std::span<const uint32_t> cut);
/// By channel and receiver, then position.
std::vector<Piece> orphans(const Graph& graph, std::span<const uint32_t> cut);

}  // namespace pastcone::causal

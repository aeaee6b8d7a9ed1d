// The places where the order of messages was open: channels that several threads send to or receive from, and
// the ports of the input. A part of races.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "pastcone/causal/graph.h"

namespace pastcone::causal {

struct ContestMessage {
  Node send;
  uint32_t contest;
  uint32_t lane, tag;
  uint32_t item;            ///< its place in Graph::sends, or Graph::arrivals
  Node until;               ///< as in ArrivalInput
  uint32_t taking = kNone;  ///< its place in Contests::takings; kNone: nobody took it
};

/// One receive of one message. A receive that took several has several.
struct ContestTaking {
  Node at;
  uint32_t message;
  uint32_t tag;  ///< kNone: any
  bool any_lane;
};

struct Contest {
  uint32_t place;  ///< its place in Graph::channels, or Graph::ports
  bool port, queue, set;
  uint32_t first_message, messages;
  uint32_t first_taking, takings;
  std::vector<uint32_t> senders, receivers;  ///< threads, ascending
};

struct Contests {
  std::vector<Contest> list;
  std::vector<ContestMessage> messages;  ///< by contest; those of a lane in order
  std::vector<ContestTaking> takings;    ///< by contest, then thread, event, and order in it
};

Contests find_contests(const Graph& graph);

/// Where `thread` is in an ascending list, or kNone.
uint32_t place_in(std::span<const uint32_t> list, uint32_t thread);

}  // namespace pastcone::causal

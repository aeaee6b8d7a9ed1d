// What races.cc needs to know of vectors: at each contested send, what it knows of the receivers; where
// several receive, the same of each receive. A part of races.h.
#pragma once

#include <cstdint>
#include <vector>

#include "pastcone/causal/contests.h"

namespace pastcone::causal {

struct RaceVectors {
  std::vector<uint32_t>
      sent;  ///< rows of messages: the last event of each receiver that came before the send
  /// Rows of takings, where a contest has several receivers: what the event knows of each, and what the event
  /// before it knew.
  std::vector<uint32_t> after, before;
  /// Rows of messages, where a contest is a queue of several receivers: what the send knows of each sender.
  std::vector<uint32_t> senders;
  /// Of messages, where a contest is a queue of one receiver: the first of Contests::takings before which all
  /// that was sent before it had been taken.
  std::vector<uint32_t> queue_before;
  /// Of messages, where a contest is a queue of one receiver: to be traced. Those before it that are not
  /// traced arrive before it in any case; past those that are, it could go.
  std::vector<uint8_t> traced;
  /// Of messages that nobody took from a queue: one that was sent before was not taken either.
  std::vector<uint8_t> blocked;
  std::vector<size_t> sent_row, taking_row, sender_row;  ///< of each contest: where its rows begin

  uint32_t* row(std::vector<uint32_t>& rows, size_t begin, uint32_t index, size_t width) {
    return &rows[begin + index * width];
  }
};

RaceVectors race_vectors(const Graph& graph, const Contests& contests);

}  // namespace pastcone::causal

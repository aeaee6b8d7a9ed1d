// The messages of a graph, one after the other, without a list of them: each is what one send and one receive
// have in common. A send of which two receives took a part each is two messages, and a receive that took what
// three sent is three.
#pragma once

#include <cstdint>
#include <optional>

#include "pastcone/causal/graph.h"

namespace pastcone::graph {

struct Message {
  uint32_t channel = 0;  ///< its place in Graph::channels
  uint64_t begin = 0, end = 0;
  uint32_t send = causal::kNone;     ///< its place in Graph::sends; kNone: it came from outside
  uint32_t receive = causal::kNone;  ///< in Graph::receives; kNone: nobody received it

  bool arrived() const { return send != causal::kNone && receive != causal::kNone; }
  bool operator==(const Message&) const = default;
};

/// By channel; in each, first what was received, by position, then what was not.
class Messages {
 public:
  explicit Messages(const causal::Graph& graph)
      : Messages(graph, 0, static_cast<uint32_t>(graph.channels.size())) {}
  /// Only these channels.
  Messages(const causal::Graph& graph, uint32_t first, uint32_t until) : graph_(graph), until_(until) {
    enter(first);
  }

  /// None: that was the last.
  std::optional<Message> next();

 private:
  void enter(uint32_t channel);
  std::optional<Message> next_received();
  std::optional<Message> next_missed();
  uint32_t send_named(uint64_t position) const;
  bool received(uint64_t position) const;

  const causal::Graph& graph_;
  uint32_t until_, channel_ = 0;
  bool all_received_ = false;
  uint32_t send_ = 0, receive_ = 0;   ///< where it is in the channel's own
  std::optional<uint64_t> position_;  ///< in the send or receive at hand
};

}  // namespace pastcone::graph

#include "pastcone/debug/message_parts.h"

#include <algorithm>

namespace pastcone::debug {

using causal::Graph;
using causal::kNone;
using causal::Transfer;
using graph::Message;

namespace {

/// Calls visit(place) for those on the other side that have something in common with `transfer`, by position.
template <typename Visit>
void visit_others(const Graph& graph, const Transfer& transfer, std::span<const Transfer> others,
                  uint32_t first, Visit visit) {
  bool messages = graph.channels[transfer.channel].messages();
  auto before = [&](const Transfer& other) {
    return messages ? other.begin < transfer.begin : other.end() <= transfer.begin;
  };
  auto each = std::ranges::partition_point(others, before);
  for (; each != others.end(); ++each) {
    bool common = messages ? each->begin == transfer.begin : each->begin < transfer.end();
    if (!common) break;
    visit(first + static_cast<uint32_t>(each - others.begin()));
  }
}

}  // namespace

std::vector<Message> parts_of_send(const Graph& graph, uint32_t send) {
  const Transfer& sent = graph.sends[send];
  bool whole = graph.channels[sent.channel].messages();
  std::vector<Message> parts;
  visit_others(graph, sent, graph.receives_of(sent.channel), graph.first_receive[sent.channel],
               [&](uint32_t place) {
                 const Transfer& received = graph.receives[place];
                 parts.push_back({sent.channel, whole ? sent.begin : std::max(sent.begin, received.begin),
                                  whole ? sent.end() : std::min(sent.end(), received.end()), send, place});
               });
  return parts;
}

std::vector<Message> parts_of_receive(const Graph& graph, uint32_t receive) {
  const Transfer& received = graph.receives[receive];
  uint32_t channel = received.channel;
  bool whole = graph.channels[channel].messages();
  std::vector<Message> parts;
  uint64_t position = received.begin;
  visit_others(graph, received, graph.sends_of(channel), graph.first_send[channel], [&](uint32_t place) {
    const Transfer& sent = graph.sends[place];
    if (whole) {
      parts.push_back({channel, sent.begin, sent.end(), place, receive});
      return;
    }
    uint64_t begin = std::max(sent.begin, received.begin), end = std::min(sent.end(), received.end());
    if (begin > position) parts.push_back({channel, position, begin, kNone, receive});
    parts.push_back({channel, begin, end, place, receive});
    position = end;
  });
  bool rest = whole ? parts.empty() : position < received.end();
  if (rest) parts.push_back({channel, position, received.end(), kNone, receive});
  return parts;
}

}  // namespace pastcone::debug

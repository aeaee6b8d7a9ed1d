// The messages that one send or one receive has a part in; graph::Messages goes through all.
#pragma once

#include <vector>

#include "pastcone/graph/messages.h"

namespace pastcone::debug {

/// By position; nothing if nobody received any of it. `send` is a place in Graph::sends.
std::vector<graph::Message> parts_of_send(const causal::Graph& graph, uint32_t send);
/// By position; what nobody sent is from outside.
std::vector<graph::Message> parts_of_receive(const causal::Graph& graph, uint32_t receive);

}  // namespace pastcone::debug

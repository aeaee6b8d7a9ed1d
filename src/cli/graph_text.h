// The event graph as users name and read it: events, where threads stand, arrows, what is in transit. The
// graph's nodes are steps (graph/steps.h); users see events, and "on its way into event n".
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "pastcone/base/ids.h"
#include "pastcone/base/result.h"
#include "pastcone/causal/cone.h"
#include "pastcone/causal/path.h"
#include "pastcone/causal/transit.h"
#include "pastcone/graph/names.h"

namespace pastcone::cli {

using graph::cause;
using graph::find_event;

/// The last events of as many threads.
Result<std::vector<causal::Node>> find_cut(const causal::Graph& graph, const std::vector<EventId>& events);

/// The event that a step is a part of.
EventId event_of(const causal::Graph& graph, causal::Node node);

/// Where a thread stands.
struct Place {
  EventId last;          ///< that it has done; 0: none
  bool entered = false;  ///< and is in the next one, as far as that goes without the others
  bool ended = false;
  uint64_t point = 0;  ///< of its locks that it has come to since; 0: none
};
Place place_of(const causal::Graph& graph, causal::Node node);
/// "p1:17", "p2:9, on its way into event 10", "p2.2:9, up to point 12 of its locks", "p3 has not begun",
/// "p1:80, its end".
std::string place_text(const Place& place);

/// "p1:17", "into p1:18", or "after p1:17": with a lock.
std::string step_text(const causal::Graph& graph, causal::Node node);
/// "message, channel 12", "turn of p3" …
std::string why_text(const causal::Graph& graph, const causal::Arrow& arrow);
/// "p1:17 → p2:9 (message, channel 12)".
std::string arrow_text(const causal::Graph& graph, const causal::Arrow& arrow);
nlohmann::ordered_json arrow_json(const causal::Graph& graph, const causal::Arrow& arrow);

/// "in transit: 45 bytes of p1:17, channel 12", one line each.
void print_transit(const causal::Graph& graph, const std::vector<causal::Piece>& pieces);
void print_orphans(const causal::Graph& graph, const std::vector<causal::Piece>& pieces);
nlohmann::ordered_json pieces_json(const causal::Graph& graph, const std::vector<causal::Piece>& pieces);

/// "causal", "enforced".
const char* to_string(causal::Order order);

}  // namespace pastcone::cli

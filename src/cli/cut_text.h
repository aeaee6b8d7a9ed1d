// A cut of the event graph as a table of where each thread stands, and what is in transit there.
#pragma once

#include <nlohmann/json.hpp>

#include "pastcone/causal/cone.h"
#include "pastcone/cli/graph_question.h"
#include "pastcone/cli/text.h"

namespace pastcone::cli {

Status print_cut(const Asked& asked, const Where& where, const causal::Cut& cut);
/// Adds `threads` and `in_transit`.
Status put_cut(const Asked& asked, const Where& where, const causal::Cut& cut, nlohmann::ordered_json& json);

/// A table with an event of each thread, and where that is in the source, if anything is known of that.
Table table_of_events(const char* place, const char* event, const Where& where);
std::vector<std::string> row_of_event(std::string place, std::string what, const Where& where, EventId event);

}  // namespace pastcone::cli

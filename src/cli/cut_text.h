// A cut of the event graph as a table of where each thread stands, and what is in transit there.
#pragma once

#include <nlohmann/json.hpp>

#include "pastcone/causal/cone.h"
#include "pastcone/cli/graph_question.h"

namespace pastcone::cli {

Status print_cut(const Asked& asked, const causal::Cut& cut);
/// Adds `threads` and `in_transit`.
Status put_cut(const Asked& asked, const causal::Cut& cut, nlohmann::ordered_json& json);

}  // namespace pastcone::cli

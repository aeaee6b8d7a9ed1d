// From cuts of the graph to horizons of the replay, and back from where threads stand.
#pragma once

#include <vector>

#include "pastcone/causal/cone.h"
#include "pastcone/causal/graph.h"
#include "pastcone/replay/director.h"
#include "pastcone/trace/recording.h"

namespace pastcone::debug {

replay::Horizons horizons_of(const Recording& recording, const causal::Graph& graph, const causal::Cut& cut);

/// The last step that each thread has done.
causal::Cut steps_of(const causal::Graph& graph, const std::vector<replay::Standing>& all);

/// All that other threads do for this step is in the cut.
bool is_due(const causal::Graph& graph, causal::Node step, const causal::Cut& cut);

}  // namespace pastcone::debug

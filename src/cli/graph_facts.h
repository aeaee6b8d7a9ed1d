// The event graph as the commands want it: with what a replay tells, if it has to be made.
#pragma once

#include "pastcone/graph/open_graph.h"

namespace pastcone::cli {

/// Says on standard error if that replay was not exact, so that the graph has fewer arrows than it could.
/// `with_places`: Where will be asked too, so that it should need no second replay.
Result<graph::OpenedGraph> open_whole_graph(const Recording& recording, bool with_places = false);

}  // namespace pastcone::cli

// What does not change while a recording is debugged.
#pragma once

#include "pastcone/causal/graph.h"
#include "pastcone/replay/run_summary.h"
#include "pastcone/trace/processes.h"
#include "pastcone/trace/recording.h"

namespace pastcone::debug {

struct World {
  const Recording& recording;
  const causal::Graph& graph;  ///< whole
  ProcessTable processes;
  replay::RunSummary run;
};

}  // namespace pastcone::debug

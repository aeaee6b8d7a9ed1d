// What does not change while a recording is debugged.
#pragma once

#include <string>

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

/// Whether a process runs a program of this name, which is its file's or what it is called: one that it executes, or the one
/// that it was forked with. `briefly`: that counts even if it executes another one then.
bool runs(const ProcessTable& table, ProcessId process, const std::string& name, bool briefly);

}  // namespace pastcone::debug

// Reads a recording into the form that the event graph is made of. Events are steps there (steps.h).
#pragma once

#include <map>
#include <vector>

#include "pastcone/base/ids.h"
#include "pastcone/base/result.h"
#include "pastcone/causal/model.h"
#include "pastcone/graph/facts.h"
#include "pastcone/graph/lock_steps.h"
#include "pastcone/trace/recording.h"

namespace pastcone::graph {

/// One pass over all event streams. An error if one is damaged. `locks` gets the order of events in parallel
/// mode.
Result<causal::Execution> read_execution(const Recording& recording, const Facts& facts, LockEdges& locks);
/// The same without these.
Result<causal::Execution> read_execution(const Recording& recording, const Facts& facts = {});

}  // namespace pastcone::graph

// The times that a recording has: when threads started, and what they read from clocks that tell the time of
// day. Readings of CLOCK_MONOTONIC count too: how far it is behind follows from those that came right after a
// known time.
#pragma once

#include <vector>

#include "pastcone/exports/times.h"
#include "pastcone/trace/recording.h"

namespace pastcone::exports {

Result<std::vector<KnownTime>> known_times(const Recording& recording, const causal::Graph& graph);

}  // namespace pastcone::exports

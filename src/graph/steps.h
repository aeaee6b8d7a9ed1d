// The nodes of the graph: steps. A thread goes on entering an event (2e − 1: all of the program up to where
// it begins) and on leaving it (2e: it is done, nothing of the program after it has run). In between it may
// wait, and hand the turn over: who gets it then has to wait for the program up to there, and not for the
// event.
#pragma once

#include <cstdint>

#include "pastcone/causal/model.h"

namespace pastcone::graph {

constexpr uint32_t entering(uint64_t event) { return static_cast<uint32_t>(2 * event - 1); }
constexpr uint32_t leaving(uint64_t event) { return static_cast<uint32_t>(2 * event); }
/// Entering the event that the step leaves.
constexpr causal::Node before(causal::Node leaving) { return {leaving.thread, leaving.event - 1}; }
/// The last event that is done by then; 0: none.
constexpr uint64_t event_at(uint32_t step) { return step / 2; }
constexpr bool is_entering(uint32_t step) { return step % 2 != 0; }

}  // namespace pastcone::graph

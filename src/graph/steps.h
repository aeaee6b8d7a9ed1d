// The nodes of the graph: steps. A thread goes on entering an event (2e − 1: all of the program up to where
// it begins) and on leaving it (2e: it is done, nothing of the program after it has run). In between it may
// wait, and hand the turn over: who gets it then has to wait for the program up to there, and not for the
// event.
//
// So it is in the streams, and while a graph is being made. What threads do with locks lies between these
// steps, and those *points* of it that edges begin or end at are steps as well (lock_steps.h): in a graph
// that has been made, a thread's steps are all of these together, and the functions below lead from one count
// to the other.
#pragma once

#include <cstdint>

#include "pastcone/causal/graph.h"
#include "pastcone/causal/model.h"

namespace pastcone::graph {

constexpr uint32_t entering(uint64_t event) { return static_cast<uint32_t>(2 * event - 1); }
constexpr uint32_t leaving(uint64_t event) { return static_cast<uint32_t>(2 * event); }
/// Entering the event that the step leaves.
constexpr causal::Node before(causal::Node leaving) { return {leaving.thread, leaving.event - 1}; }

/// Without those of locks: 2e or 2e − 1, the last one up to there.
uint32_t plain_step(const causal::Graph& graph, causal::Node node);
/// The step that has this number without those of locks.
causal::Node find_step(const causal::Graph& graph, uint32_t thread, uint32_t plain);
/// The last one in it if a thread has come to a plain step, and passed so many points of its locks.
causal::Node find_step(const causal::Graph& graph, uint32_t thread, uint32_t plain, uint64_t points);

/// The last event that is done by then; 0: none.
inline uint64_t event_at(const causal::Graph& graph, causal::Node node) {
  return plain_step(graph, node) / 2;
}
/// The event that it is a step of: entered, left, or the last one before what it does with locks.
inline uint64_t event_of_step(const causal::Graph& graph, causal::Node node) {
  return (plain_step(graph, node) + 1) / 2;
}
inline bool is_entering(const causal::Graph& graph, causal::Node node) {
  return plain_step(graph, node) % 2 != 0;
}
/// Of a step of locks, how many points the thread has passed by then; else 0.
uint32_t point_at(const causal::Graph& graph, causal::Node node);

}  // namespace pastcone::graph

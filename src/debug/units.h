// What the parts of a predicate are about: a thread, or threads that take turns (all of a process, or of
// processes that share memory, in serial mode), whose steps then come one after the other by
// Order::kEnforced. So the states of a unit have an order, however many threads it has. Only the beginning of
// a further thread of a process has no place in it: it waits for its turn then, and nothing of the program
// has run, so its unit's state is the same before and after.
//
// A unit that is a group before all its processes have joined it has steps without an order; what is found
// there is a state in which the predicate holds, but there may be one before it.
//
// In parallel mode the threads of a process run at once, and so does a unit that is all of them. Its steps
// have no order, but the writes to what a part reads do, if the program orders them (by locks, say), and
// these are all that counts: of those that a cut has, the last says whether the part holds there. In serial
// mode it is the same for memory that processes share: the unit is all threads of these processes, and the
// order of what they write is that of their turns.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "pastcone/causal/cone.h"
#include "pastcone/causal/graph.h"

namespace pastcone::debug {

struct Unit {
  std::vector<uint32_t> threads;  ///< of the graph
  bool at_once = false;           ///< they take no turns, or it does not matter: only what they write counts
  std::optional<causal::Node> born = {};  ///< who it is about begins with this step, and is needed

  bool has(uint32_t thread) const;
  bool operator==(const Unit&) const = default;
};

/// A state of a unit: its thread has done this step, and then has gone on for a while, or not at all.
struct Moment {
  causal::Node step;  ///< event 0: before its first
  uint64_t detail =
      0;  ///< 0: nothing of the program behind the step has run; else whoever probes knows how far it
          ///< has. Behind the same step, later states have greater ones, whichever part they are of

  auto operator<=>(const Moment&) const = default;
};

/// A global state, to search from.
struct Front {
  causal::Cut cut;
  std::map<uint32_t, uint64_t> details = {};  ///< of threads that have gone on behind their steps, how far

  uint64_t detail_of(uint32_t thread) const;
};

/// As it is found: the moments are those in which the parts hold, in their order.
struct Found : Front {
  std::vector<Moment> moments = {};
  size_t alternative = 0;  ///< of a disjunction, which conjunction holds
};

/// Nothing has happened yet.
Found beginning(const causal::Graph& graph);

/// Whether no thread has come further in a than in b.
bool not_beyond(const causal::Graph& graph, const Front& a, const Front& b);

/// Into `cut`, which is as long.
void join(causal::Cut& cut, const causal::Cut& other);
/// Everybody comes as far as the cut,
void join(Front& front, const causal::Cut& other);
/// and to the moment, which the cut has.
void join(Front& front, const causal::Cut& other, const Moment& moment);
/// Whether the moment has been by then.
bool has(const Front& front, const Moment& moment);

/// The steps of a thread that count for its unit's state.
uint32_t counted(const causal::Graph& graph, const Unit& unit, causal::Node last);

/// Whether the unit has the same state in both.
bool same_place(const causal::Graph& graph, const Unit& unit, const Front& a, const Front& b);

/// The unit's state when it has done exactly what the front has of it.
Moment moment_at(const causal::Graph& graph, const Unit& unit, const Front& front);

/// The least consistent cut behind which the moment is. A thread that goes on behind its step has the turn
/// again, so it needs what handed it over.
causal::Cut cut_of(const causal::Graph& graph, const Unit& unit, const Moment& moment);

/// The step with which the unit, having come as far as the cut, leaves the moment; none if it never does.
std::optional<causal::Node> step_behind(const causal::Graph& graph, const Unit& unit, const causal::Cut& cut,
                                        const Moment& moment);

}  // namespace pastcone::debug

// Random executions whose threads and groups of threads have states with truth values, and what follows from
// them by trying everything. Shares no code with the search but the types of its answers.
#pragma once

#include <functional>
#include <random>
#include <vector>

#include "pastcone/causal/testing/random_execution.h"
#include "pastcone/debug/search.h"

namespace pastcone::debug_testing {

using causal::Node;
using causal_testing::NodeSet;
using debug::Conjunction;
using debug::Disjunction;
using debug::Found;
using debug::Front;
using debug::Moment;
using debug::Unit;

/// A state of a unit: so many of its steps are done; after the last of them it has gone on so far.
struct Spot {
  size_t done = 0;
  uint64_t detail = 0;

  auto operator<=>(const Spot&) const = default;
};

struct WorldOptions {
  uint32_t threads = 4, steps = 22;
  bool serial = false;  ///< processes are units
  unsigned truth = 3;   ///< one state of so many is true; 0: none
  uint32_t parts = 4;
  uint32_t shared = 0;  ///< so many parts more about memory that several units share; needs `serial`
};

/// Where the parts of a conjunction are.
using Spots = std::vector<Spot>;

class World : public debug::Prober {
 public:
  World(std::mt19937& random, const WorldOptions& options);

  const causal::Graph& graph() const { return graph_; }
  const std::vector<Unit>& parts() const { return parts_; }
  size_t unit_of(size_t part) const { return part_units_[part]; }
  size_t units() const { return units_.size(); }
  /// Of different units, at most so many.
  Conjunction any_conjunction(size_t most);
  /// Of any kind, and perhaps the same unit: at least one of them is about what is shared.
  Conjunction any_shared(size_t most);
  /// That of a random set of events.
  causal::Cut any_cut();

  Result<std::vector<std::optional<Moment>>> next(const Front& front,
                                                  std::span<const debug::Ask> asks) override;
  size_t asked() const { return asked_; }

  /// The first state by looking at all consistent cuts.
  std::optional<Found> true_first(const Conjunction& conjunction, const causal::Cut& from) const;
  /// All choices of states of the units in which the parts hold and which can be at the same time.
  std::vector<Spots> solutions(const Conjunction& conjunction, const causal::Cut& from) const;
  /// The least state with these.
  Found state_of(const Conjunction& conjunction, const Spots& spots, const causal::Cut& from) const;
  /// Whether b, the later one, has all of a in its past.
  bool has_in_past(const Conjunction& a, const Spots& spots_a, const Conjunction& b,
                   const Spots& spots_b) const;
  /// Whether the part was false between them.
  bool was_false(size_t part, Spot from, Spot until) const;
  /// All states, with how far threads have gone on behind their steps, in which they hold.
  std::vector<Front> fronts(const Conjunction& conjunction, const Front& from) const;
  /// Whether the part was false in between.
  bool was_false(size_t part, const Front& from, const Front& until) const;
  std::vector<Found> true_minimal(std::vector<Found> states) const;
  std::vector<Found> sorted(std::vector<Found> states) const;

 private:
  struct UnitStates {
    std::vector<uint32_t> threads;
    std::vector<Node> chain;                 ///< its steps in their order
    std::vector<uint64_t> details;           ///< the greatest one behind so many steps
    std::vector<std::vector<NodeSet>> need;  ///< by done, then detail: all that has to have happened
  };

  /// A write to what is shared; each has those before it in its past.
  struct Write {
    Moment moment;
    size_t place;  ///< in the group's chain: it comes behind so many of its steps
    auto operator<=>(const Write& other) const = default;
  };
  struct SharedPart {
    std::vector<bool> values;  ///< behind so many writes
    Node born;
  };

  void make_group(causal_testing::RandomExecution& execution);
  void make_writes();
  void make_shared(const WorldOptions& options);
  std::optional<Moment> next_shared(const Front& front, const debug::Ask& ask) const;
  size_t writes_in(const Front& front) const;
  uint64_t most_detail(const NodeSet& set, uint32_t thread) const;
  bool holds(size_t part, const Front& front, const NodeSet& set) const;
  uint32_t below(size_t limit) { return static_cast<uint32_t>(random_() % limit); }
  void make_units(bool serial, causal_testing::RandomExecution& execution);
  void make_states();
  void make_truth(const WorldOptions& options);
  size_t done_in(size_t unit, const NodeSet& set) const;
  NodeSet set_of(const causal::Cut& cut) const;
  causal::Cut cut_of(const NodeSet& set) const;
  Moment moment_of(size_t unit, Spot spot) const;
  bool is_true(size_t part, Spot spot) const { return truth_of_[part][spot.done][spot.detail]; }
  static bool not_beyond(const Found& a, const Found& b);
  void each_cut(const std::function<void(const NodeSet&)>& visit) const;

  std::mt19937& random_;
  causal_testing::Truth truth_;
  std::vector<NodeSet> pasts_;
  causal::Graph graph_;
  std::vector<UnitStates> units_;
  std::vector<size_t> part_units_;
  std::vector<Unit> parts_;
  std::vector<std::vector<std::vector<bool>>> truth_of_;  ///< by part, done, detail
  std::vector<uint32_t> group_;                           ///< threads that share
  std::vector<Node> group_chain_;
  std::vector<Write> writes_;
  std::vector<SharedPart> shared_;  ///< the last parts
  size_t asked_ = 0;
};

}  // namespace pastcone::debug_testing

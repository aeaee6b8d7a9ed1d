// The way to an event by demand: nothing is known before but where the edges come from. A thread that is
// asked to come to an event stops before those on its way that need others, and these are asked to come that
// far first; it goes past some of them at once if the others are on their way already, for it will wait for
// them by itself. All stand in the end where past_cone() says.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "pastcone/causal/cone.h"
#include "pastcone/causal/graph.h"

namespace pastcone::causal {

class Demand {
 public:
  /// The graph must live on.
  Demand(const Graph& graph, std::span<const Node> targets, Order order = Order::kCausal);

  /// Nobody goes past a need that is only on the way unless this says that it will be met: somebody may be stopped.
  void rely_only_on(std::function<bool(Node)> certain) { certain_ = std::move(certain); }

  /// `done`: the last event of each real thread by now. Whether somebody may go further than before.
  bool advance(std::span<const uint32_t> done);

  /// How far each thread may go.
  const Cut& horizons() const { return horizons_; }
  /// The same, and who is wanted further goes up to where it waits for what it needs.
  Cut attempts() const;

 private:
  /// Whether its sources are done, or will be.
  bool is_met(uint32_t group);
  /// True: a hub has gone on, or somebody was asked for more.
  bool look_at(uint32_t thread);

  const Graph& graph_;
  Kinds kinds_;
  Cut wanted_, horizons_, done_;
  std::vector<uint32_t> next_;  ///< of each thread, the first group whose needs are not met
  std::vector<uint32_t>
      ahead_;  ///< how many of them it may still go past while their needs are only on the way
  bool asked_ = false;
  std::function<bool(Node)> certain_;
};

}  // namespace pastcone::causal

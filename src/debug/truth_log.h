// When a part of a predicate became true and false, as a replay has shown so far; and the order of the
// moments of its unit.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "pastcone/debug/search.h"
#include "pastcone/debug/state.h"

namespace pastcone::debug {

/// Moves from the step of a moment on. Long ones have their beginnings in common.
struct Route {
  std::shared_ptr<const Route> before;
  Move last;
};
using RouteRef = std::shared_ptr<const Route>;

Trail trail_of(const RouteRef& route);

/// Where a moment is in the order of its unit: behind a step the program goes on when the thread has the turn
/// again, shortly before its next step.
struct MomentKey {
  uint64_t rank = 0, detail = 0;
  auto operator<=>(const MomentKey&) const = default;
};
MomentKey key_of(const causal::Graph& graph, const Moment& moment);

class TruthLog {
 public:
  struct Change {
    Moment moment;
    MomentKey key;
    bool holds;
    RouteRef route;
  };
  enum class Kind { kAt, kNever, kNotYet };
  struct Answer {
    Kind kind;
    Moment moment = {};
  };

  /// In the order in which they come; nothing happens if it does so already. At the same moment the last
  /// counts.
  void note(const causal::Graph& graph, const Moment& moment, bool holds, const RouteRef& route);
  bool holds() const { return !changes_.empty() && changes_.back().holds; }

  /// `passed`: the unit has come to `from`, and all it has done up to there has been noted. `ended`: it will
  /// not do anything more.
  Answer answer(const causal::Graph& graph, const Ask& ask, bool passed, bool ended) const;
  /// Of a unit whose threads run at once: `has` says which changes there have been by then. Each of them
  /// needs those before it.
  using Has = std::function<bool(const Moment&)>;
  Answer answer(const causal::Graph& graph, const Ask& ask, const Has& has, bool passed, bool ended) const;

  /// The moves to a moment at which it has changed.
  std::optional<Trail> trail(const Moment& moment) const;
  /// How often it became true.
  size_t times() const { return times_; }
  const std::vector<Change>& changes() const { return changes_; }

 private:
  using Next = std::vector<Change>::const_iterator;  ///< the first change that is still to come
  Answer answer_from(const causal::Graph& graph, const Ask& ask, Next next, bool at_once, bool passed,
                     bool ended) const;

  std::vector<Change> changes_;
  size_t times_ = 0;
};

}  // namespace pastcone::debug

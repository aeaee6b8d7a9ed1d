// Where predicates first hold. A conjunction has at most one first state, Inf(P): the least consistent cut,
// by all edges that replay enforces, in which each of its parts holds (P1). Whoever's part is false goes to
// its next true moment, the others come as far as that needs, and who was moved beyond its own moment is
// asked again there.
//
// Nothing runs here: a Prober does, and knows what its moments mean. Disjunctions and linked predicates may
// have several first states, none before another.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "pastcone/base/result.h"
#include "pastcone/debug/units.h"

namespace pastcone::debug {

/// Places in the list of parts. Their units may have threads in common: of two that have come to moments
/// behind the same step of one, the greater counts, and the other part is asked again there.
using Conjunction = std::vector<size_t>;
/// Of these, one.
using Disjunction = std::vector<Conjunction>;
/// Of each of them the states that others do not make superfluous: what is later as a state may still be known
/// of where the earlier one is not.
using Reached = std::vector<std::vector<Found>>;

/// When does a part hold next?
struct Ask {
  size_t part = 0;
  Moment from;          ///< detail 0: the state that the unit has in the cut
  bool beyond = false;  ///< behind `from`, and not there
  bool holds = true;    ///< false: when does it not?
};

class Prober {
 public:
  virtual ~Prober() = default;

  /// For each, the first moment of its unit at or behind `from`; none: never again. What one unit does does
  /// not depend on how far the others are, so all may run at once. The front is consistent, and has what the
  /// units have done at `from`.
  virtual Result<std::vector<std::optional<Moment>>> next(const Front& front, std::span<const Ask> asks) = 0;
};

class Search {
 public:
  /// `parts`: the unit of each. Graph and prober must live on.
  Search(const causal::Graph& graph, std::vector<Unit> parts, Prober& prober)
      : graph_(graph), parts_(std::move(parts)), prober_(prober) {}

  /// The first state in which all hold, that is not before `from`.
  Result<std::optional<Found>> first(const Conjunction& conjunction, const Front& from);

  /// The minimal ones among the first states of the conjunctions. Empty: it never holds.
  Result<std::vector<Found>> minimal(const Disjunction& disjunction, const Front& from);

  /// Each link has one of the link before it in its past: all moments of that have been left, and the moments
  /// of this one could know it. Of each link, the states behind `from`. `past`: what was reached from the
  /// beginning, by a search of its own; what has been left by then counts, too.
  Result<std::vector<Reached>> reach(std::span<const Disjunction> links, const Front& from,
                                     std::span<const Reached> past = {});
  /// The minimal states of the last link.
  std::vector<Found> last_of(std::span<const Reached> links) const;

  /// After the conjunction has held: the minimal states in which it holds again, one of its parts having been
  /// false since.
  Result<std::vector<Found>> again(const Conjunction& conjunction, const Found& held);
  /// The same after the last link has held: that conjunction again, or another one that does not hold yet.
  Result<std::vector<Found>> again(std::span<const Disjunction> links, std::span<const Reached> reached,
                                   const Found& held);

 private:
  /// A part on its way.
  struct Standing {
    size_t part;
    Moment at;
    bool beyond = false;  ///< it has to go on from there
    bool holds = false;
    Front place = {};  ///< where the unit is, if it holds
  };

  const Unit& unit(size_t part) const { return parts_[part]; }
  std::vector<Standing> standing(const Conjunction& conjunction, const Front& from) const;
  Result<std::optional<Found>> advance(Front front, std::vector<Standing> parts);
  Result<bool> ask(Front& front, std::vector<Standing>& parts);

  /// One link holds: where the next can hold with that in its past.
  struct Known;
  std::vector<Known> known(const Conjunction& before, const Found& state) const;
  Status find_behind(const Conjunction& before, const Found& state, const Conjunction& conjunction,
                     const Front& from, std::vector<Found>& found);
  Result<Reached> behind(std::span<const Disjunction> links, std::span<const Reached> reached,
                         const Front& from);
  bool has_left(size_t part, const Found& state, const Moment& moment, const Front& from) const;
  bool knows(const Unit& unit, const causal::Cut& cut, const Known& known) const;
  bool may_know(const std::vector<Known>& moments, const Conjunction& conjunction, const Found& state,
                std::map<size_t, Standing>& coming) const;
  Result<std::optional<Found>> carry_over(const Conjunction& conjunction, Found state, const Front& from,
                                          const std::vector<Known>& moments);
  Status carry_over(std::span<const Disjunction> links, std::span<const Reached> reached, const Reached& past,
                    const Front& from, Reached& into);
  bool limit(const std::vector<Known>& known, std::span<const size_t> chosen, const Found& state,
             Front& front, std::vector<Standing>& parts) const;
  std::vector<Found> minimal_of(std::vector<Found> states) const;
  bool not_later(const Conjunction& conjunction, const Found& a, const Found& b) const;
  void add_unless_later(const Conjunction& conjunction, Found state, std::vector<Found>& into) const;

  const causal::Graph& graph_;
  std::vector<Unit> parts_;
  Prober& prober_;
};

}  // namespace pastcone::debug

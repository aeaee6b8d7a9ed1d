// A global predicate as the search wants it: parts, each about one unit, and which of them have to hold
// together.
#pragma once

#include <string>
#include <vector>

#include "pastcone/debug/predicate.h"
#include "pastcone/debug/search.h"
#include "pastcone/debug/world.h"

namespace pastcone::debug {

/// What a conjunction says of one unit: all of it has to hold at the same time.
struct Part {
  ProcessId process;
  ThreadId thread;         ///< the unit is this one; invalid: all threads of the process
  bool meant_all = false;  ///< it was said of the process: what other threads write counts, too
  bool shared = false;     ///< it is about memory that processes share: what others write counts, too
  Unit unit;
  std::vector<SimplePredicate> terms;  ///< as written
};

/// Whether processes may tell by themselves of what is written in them, which is quicker. It may turn out
/// that they have not said enough.
enum class Telling : bool { kNo, kAllowed };

struct Plan {
  std::vector<Part> parts;
  std::vector<Disjunction> links;  ///< for Search::linked; one, if it is not linked

  std::vector<Unit> units() const;
};

/// `predicate` names processes by number or threads (with_processes()).
Result<Plan> plan(const World& world, const Predicate& predicate);

/// Processes that may share memory with one, itself among them: those that it has had a turn with, and some
/// more. Serial mode.
std::vector<ProcessId> sharing(const World& world, ProcessId process);
/// From now on the part's unit is all threads of these.
void share(const World& world, Part& part);

/// Whether it ends by itself: nothing holds in it any more. Of who was killed nobody knows when.
bool ends(const World& world, ProcessId process);

/// `a && b` as a and b, unless something else binds less.
std::vector<std::string> conjuncts_of(const std::string& expression);

}  // namespace pastcone::debug

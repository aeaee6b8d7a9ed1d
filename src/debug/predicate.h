// Global predicates as users write them (P1), after `stop if` and `trace … if`:
//
//   p1: x == 1 && p4: total(list) > 3 at srv.c:80       a conjunction of simple predicates
//   (p1: x && p2: y) || any server: busy in handle      a disjunction
//   p1: locked -> p2: locked -> p3: v == 2              linked: each has the one before it in its past
//
// A simple predicate is about one process, in the debuggee's language, which is not understood here: it goes
// on up to where the next WHO: begins. So `p1: a && b && p2: c` is about a && b in p1. Nothing is looked up.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pastcone/base/ids.h"
#include "pastcone/base/result.h"

namespace pastcone::debug {

struct Who {
  enum class Kind : uint8_t {
    kProcess,  ///< p2
    kThread,   ///< p2.3, and p2.1
    kProgram,  ///< server: the one process that runs it
    kAny,      ///< any server
    kPid,      ///< pid 4711, as recorded
  };
  Kind kind = Kind::kProcess;
  ThreadId thread = {};   ///< kProcess: the first one of it
  std::string name = {};  ///< kProgram, kAny
  uint64_t pid = 0;

  bool operator==(const Who&) const = default;
};

struct SimplePredicate {
  /// Where its process has to stand.
  struct Site {
    std::string file = {};  ///< empty: a function or an address
    uint32_t line = 0;
    std::string function = {}, address = {};

    bool operator==(const Site&) const = default;
  };

  Who who;
  std::string expression;  ///< "1" if only a place is given
  std::optional<Site> at = {};
  std::string in = {};  ///< a function that is being executed; empty: any

  bool operator==(const SimplePredicate&) const = default;
};

struct Predicate {
  using All = std::vector<SimplePredicate>;  ///< in the order given, each once
  using Any = std::vector<All>;

  std::vector<Any> links;  ///< one, if it is not linked

  bool linked() const { return links.size() > 1; }
  bool disjunctive() const { return links.front().size() > 1; }
  bool operator==(const Predicate&) const = default;
};

struct TracedValue {
  std::optional<Who> who;  ///< none: whoever is in focus
  std::string expression;

  bool operator==(const TracedValue&) const = default;
};

struct TraceCommand {
  std::vector<TracedValue> values;
  Predicate condition;
};

/// What follows `stop if`.
Result<Predicate> parse_predicate(std::string_view text);
/// What follows `trace`: `[WHO:] EXPR, … if PREDICATE`. A value without WHO is of the same as the one before
/// it.
Result<TraceCommand> parse_trace(std::string_view text);
/// p2, p2.3, server, any server, pid 4711: as before a colon.
Result<Who> parse_who(std::string_view text);

/// They parse to the same again.
std::string to_string(const Who& who);
std::string to_string(const SimplePredicate& predicate);
std::string to_string(const Predicate::All& conjunction);
std::string to_string(const Predicate& predicate);

/// Where it is to be looked at, for gdb; empty: anywhere, or at an address.
std::string location_of(const SimplePredicate& predicate);

/// Puts processes for what is named otherwise; `any` becomes a disjunction. `find`: all processes that run a
/// program of this name, or had this pid.
using FindProcesses = std::function<std::vector<ProcessId>(const Who&)>;
Result<Predicate> with_processes(const Predicate& predicate, const FindProcesses& find);

/// Of a ∧ (b ∨ c) and the like. An error if there are too many.
Result<Predicate::Any> both(const Predicate::Any& a, const Predicate::Any& b);

}  // namespace pastcone::debug

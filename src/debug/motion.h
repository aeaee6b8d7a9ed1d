// Moving one process, and of the others no more than it needs: what is waited for is asked to come, as the
// graph says. In between there may be places where a process has to be prepared before it goes on, when it
// begins and when it has executed a program; these are its gates.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "pastcone/debug/incarnation.h"

namespace pastcone::debug {

/// No further than a step until somebody has come to one of his.
struct Limit {
  uint64_t step = 0;  ///< plain
  Gate until;
  bool met = false;  ///< he has; but as long as he is held there, it counts
};

/// Of which processes it is to be known when they begin a program, and what is done then.
struct Gates {
  std::function<bool(ProcessId)> wanted;
  std::function<Status(ProcessId)> open;
  /// One that was stopped: whether that was not meant for the user, and it goes on.
  std::function<Result<bool>(const Arrival&)> passes;
  /// How far a thread may go, until there has been a stop.
  std::function<std::vector<Limit>(ThreadId)> limits;
  /// The next step behind the given one at which a thread is to stop.
  std::function<std::optional<uint64_t>(ThreadId, uint64_t)> next_stop;
  /// It has come there: whether it does stop.
  std::function<Result<bool>(ThreadId, uint64_t)> stops_at;
};

/// Where all have come to rest. It is the same every time: who was stopped stays, the others went as far as they
/// were to go, or can.
struct Rest {
  replay::Halt halt = replay::Halt::kStanding;
  struct Stopped {
    std::optional<replay::TraceStop> stop;  ///< none: at a step where it was to stop
    ThreadId thread;
  };
  std::vector<Stopped> stops;
};

/// What is asked for: the least state with all of these, and what these need. With breakpoints on the way demand
/// (P2) says who goes how far: a process is asked for what somebody who can go on needs.
struct Goal {
  std::vector<causal::Node> targets;  ///< the first is the one that is meant, the others are asked for at once with it
  causal::Cut cut;                    ///< of all
  uint64_t point = 0;                 ///< behind it, of the locks of the first one's thread
};
/// The node, and what it needs directly, and that in turn.
Goal goal_of(const causal::Graph& graph, causal::Node node);

class Motion {
 public:
  Motion(const World& world, Incarnation& run, Gates gates)
      : world_(world), run_(run), gates_(std::move(gates)) {}

  /// Up to a cut that is ahead.
  Result<Rest> to(const causal::Cut& target);
  Result<Rest> to(const Goal& goal);
  /// The process goes on until it is stopped, ends, or waits for one that was.
  Result<Rest> advance(ProcessId process);
  /// One instruction of the thread, which stands.
  Result<Rest> step(ThreadId thread);
  /// Everybody goes on.
  Result<Rest> everybody();

 private:
  Status run(const causal::Cut& target);
  /// The same where somebody may be stopped on the way: nobody goes past what he needs of one that was.
  Status run_by_demand(const std::vector<causal::Node>& targets, const causal::Cut& cut);
  /// `have`, with the threads of the process as far as that lets them go.
  causal::Cut limits(ProcessId process, causal::Cut have) const;
  /// Up to where others have to come for it to go on from there. None: nobody has to.
  std::optional<causal::Cut> needed_by(ProcessId process, const causal::Cut& limits) const;
  bool others_may_stop(ProcessId process) const;
  /// Up to where the process goes in any case; none: that is not known beforehand.
  std::optional<causal::Cut> certain_way(ProcessId process) const;
  std::optional<Gate> next_gate(ProcessId process) const;
  bool is_at(const Gate& gate) const;
  std::set<ProcessId> staying(const replay::Horizons& horizons) const;
  void clamp(replay::Horizons& horizons);
  void keep_within(ThreadId thread, replay::Horizons& horizons);
  /// Processes that may be stopped on the way to a cut.
  std::set<ProcessId> stoppable(const causal::Cut& target) const;
  /// True: somebody has come to a step that is none to stop at, and goes on.
  Result<bool> note_steps(const replay::Horizons& horizons);
  void note(const Arrival& arrival);

  const World& world_;
  Incarnation& run_;
  Gates gates_;
  Rest rest_;
  std::set<ProcessId> held_;            ///< that were stopped
  bool limits_ = true;                  ///< those of Gates count
  bool limited_ = false;                ///< somebody is held back by one
  std::map<ThreadId, uint64_t> began_;  ///< where threads were before
  replay::Horizons beyond_;             ///< points of locks that are to be come to
};

}  // namespace pastcone::debug

// Who is where: looks at the threads of a replay and finds out whether anybody can still go on, and at the
// end who did not arrive. Knows the stage and the kernel's view of the processes; starts and ends nothing.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "pastcone/replay/director.h"
#include "pastcone/replay/session.h"
#include "pastcone/replay/tracer.h"
#include "pastcone/stage/layout.h"

namespace pastcone::replay {

class Watch {
 public:
  /// `threads`: slots of the thread table that are in use. Who stands in the tracer, if there is one, does not
  /// go on by himself.
  Watch(const stage::View& stage, uint32_t processes, uint32_t threads, const Tracer* tracer = nullptr)
      : stage_(stage), processes_(processes), threads_(threads), tracer_(tracer) {}

  /// Whether all threads seem to wait; cheap, and wrong at times in either direction.
  bool may_be_stuck() const;

  /// Whether certainly no thread can go on, though some have not reached their end: every one of them sleeps
  /// in a wait, and nothing changed while all were looked at, twice. Threads that died without saying so do
  /// not count.
  bool is_stuck(const Session& session);

  /// Those that wait now, but not at their horizon: one per process. For when is_stuck().
  std::vector<Divergence> waiting() const;
  /// Where all threads are that have begun.
  std::vector<Standing> standing() const;

  uint64_t events_done() const;
  /// Counts what all threads have done; and who computes without a call: one per process.
  uint64_t progress() const;
  std::vector<Divergence> computing() const;
  std::vector<pid_t> computing_threads() const;

  /// What the processes reported themselves; those that is_stuck() found dead; and, at the end, all that did
  /// not reach the end of their recording. One per process.
  std::vector<Divergence> reported() const;
  std::vector<Divergence> died(const Session& session) const;
  std::vector<Divergence> unfinished(const Session& session) const;
  uint64_t unfinished_threads() const;
  /// Whether a thread's process ended by SIGKILL.
  bool was_killed(ThreadId thread, const Session& session) const;

 private:
  bool somebody_runs() const;
  bool everybody_sleeps(const Session& session);
  bool computes(uint32_t index) const;
  bool stands_traced(const stage::ThreadSlot& thread) const;
  const stage::ThreadSlot& slot(uint32_t index) const { return stage_.thread(index); }

  stage::View stage_;
  uint32_t processes_, threads_;
  const Tracer* tracer_;
  std::set<uint32_t> dead_;  ///< slots whose thread died while it was running
};

}  // namespace pastcone::replay

// Who waits for whom at a state of the run: as the recording goes on from there, and where it does not go on, by what
// the threads sleep in. Nothing runs here.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "pastcone/causal/cone.h"
#include "pastcone/causal/path.h"

namespace pastcone::debug {

/// What the thread's next event needs and the cut does not have. Turns are named only if there is nothing else.
std::vector<causal::Arrow> missing(const causal::Graph& graph, const causal::Cut& cut, uint32_t thread);

/// A thread that sleeps in its last call. Any of those that it waits for could wake it; nobody: it is not known who
/// could, or nobody in the recording.
struct Sleep {
  std::string call;               ///< "read", "pthread_mutex_lock" …
  std::string on;                 ///< "fd 3"; may be empty
  std::string why;                ///< "message, channel 4"; may be empty
  std::vector<ThreadId> waits_for;
  bool for_ever = true;           ///< no time was set
  bool for_end = false;           ///< of who is waited for
};
using Sleeps = std::map<ThreadId, Sleep>;

/// Those that wait only for each other: nobody of them will ever go on.
std::vector<ThreadId> deadlocked(const Sleeps& sleeps);
/// Of each, every thread waits for the next one, the last for the first; the shortest first, and rather not by waits for
/// ends. What waits for a cycle is in no other one.
std::vector<std::vector<ThreadId>> find_cycles(const Sleeps& sleeps);

}  // namespace pastcone::debug

// Replay with stage::kFlagHorizons: a thread goes as far as its horizon and parks there, inside the runtime, until the director lets
// it go further. Its steps: step 2e is event e, done, before anything of the program after it has run; step 2e + 1 is the
// program's way to the next event, up to where it would begin. A thread hands the turn over on entering an event or on leaving
// one, so who needs it waits for one of these. In parallel mode it also waits for locks, and gives them back: at points.
#pragma once

#include "waits.h"

namespace pastcone::runtime {

inline bool has_horizon() { return g.replay && (g.stage.header().flags & stage::kFlagHorizons); }

/// Whether the thread may go on from this step, which is where it is.
bool may_go_on(Thread& t, u64 step);
void park_on_entering(Thread& t);
void park_on_leaving(Thread& t);
/// On leaving an event, if ThreadSlot::keeps_turn says so: before others get the turn, so that who looks at the process finds
/// memory as it has left it.
void park_with_turn(Thread& t);

/// Replay: points are where a thread has just taken something that others may have had, or given it back, in the order in which it
/// does so; in serial mode only objects that the program names. They lie behind the step that the thread has come to last.
inline u64& points_of(Thread& t) { return slot_of(t).points; }
void pass_point(Thread& t);

}  // namespace pastcone::runtime

// Replay with stage::kFlagHorizons: a thread goes as far as its horizon and parks there, inside the runtime, until the director lets
// it go further. Its steps: step 2e is event e, done, before anything of the program after it has run; step 2e + 1 is the
// program's way to the next event, up to where it would begin. A thread hands the turn over on entering an event or on leaving
// one, so who needs it waits for one of these.
#pragma once

#include "thread.h"

namespace pastcone::runtime {

inline bool has_horizon() { return g.replay && (g.stage.header().flags & stage::kFlagHorizons); }

void park_on_entering(Thread& t);
void park_on_leaving(Thread& t);

}  // namespace pastcone::runtime

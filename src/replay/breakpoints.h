// Code for the runtime's breakpoints (stage::Breakpoint): what tells the pass of a loop at which a thread was interrupted from
// the millions before it, at the price of some nanoseconds for each.
#pragma once

#include "pastcone/stage/breakpoint.h"

namespace pastcone::replay {

class Tracer;

/// Answers the request in `breakpoint`, if there is one. Where `tracer` has a breakpoint there is no room.
void serve_breakpoint(stage::Breakpoint& breakpoint, Tracer* tracer = nullptr);

}  // namespace pastcone::replay
